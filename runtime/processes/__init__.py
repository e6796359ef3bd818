"""Processes: supervised and child processes, signals to stop, logs and garbage collection."""
