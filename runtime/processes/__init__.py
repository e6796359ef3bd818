"""Processes: supervised processes, child processes, stop signals, logs and garbage collection."""
