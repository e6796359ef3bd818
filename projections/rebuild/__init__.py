"""Rebuild of the read models beside the live ones, to replace them or to be compared with them."""
