"""Settings, signals, children and memory of a process, and the embedded PostgreSQL."""
