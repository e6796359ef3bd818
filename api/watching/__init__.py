"""Watchers of the log: a watcher that does not read its events in time is disconnected; others never wait."""
