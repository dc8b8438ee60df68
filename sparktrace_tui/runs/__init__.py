"""Players over tasks: the questions of a set, the engine, the log, and matches."""
