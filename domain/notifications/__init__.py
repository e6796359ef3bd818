"""Notifications: which events of the log make which messages, for which people."""
