"""A simulated lab controller with its machines, driven by a seed."""
