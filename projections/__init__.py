"""What can be known from the log: read models and their tables."""
