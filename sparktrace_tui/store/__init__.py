"""Where things are and how they are read and written: kernels, captures, prompts, and the user's own data."""
