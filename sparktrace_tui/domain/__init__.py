"""Pure rules and data, standard library only: what a kernel, a report, a question, a game and a score are."""
