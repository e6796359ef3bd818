"""Logins, passwords and tokens."""
