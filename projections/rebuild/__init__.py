"""Rebuild of the read models beside the live ones, to replace them or to compare both."""
