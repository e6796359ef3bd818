"""A rebuild by several processes: each folds one half."""
