"""A process: its settings, its signals and children, and the embedded PostgreSQL."""
