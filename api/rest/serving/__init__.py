"""The server around the application: its workers, their connections, and how they end."""
