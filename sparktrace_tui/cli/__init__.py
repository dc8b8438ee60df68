"""The command line: arguments in, a mode out; each command imports what it needs only when chosen."""
