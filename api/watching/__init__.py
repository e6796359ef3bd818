"""Watchers of the log. A watcher that does not read in time is disconnected, so that others never wait."""
