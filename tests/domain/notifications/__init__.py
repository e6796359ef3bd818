"""The rules of notifications."""
