"""Settings, signals and children of a process, and the embedded PostgreSQL."""
