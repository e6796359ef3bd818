"""What a rebuild does in other processes: each folds a part of the log, step by step."""
