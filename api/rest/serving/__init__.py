"""The HTTP server: its workers, their connections, and graceful shutdown."""
