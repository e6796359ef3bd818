"""Every door: HTTP, command line, event store, workers, settings, composition root."""
