"""One protocol (verify, time, profile) and what is behind it: the emulator, or a real GPU, each in a worker process."""
