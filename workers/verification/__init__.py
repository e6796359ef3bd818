"""`labledger replay verify`: checks of the log, each in its own process."""
