"""What leaves the program as files: the batch export and its tables."""
