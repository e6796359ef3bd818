"""Maintenance windows: times in which nothing new starts on their systems."""
