"""Simulated time, strands in place of threads, and randomness from one seed."""
