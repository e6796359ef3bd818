"""A rebuild by several processes: each folds one part of the log."""
