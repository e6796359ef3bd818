"""Checks of every seed, by the answers of the service and by its log."""
