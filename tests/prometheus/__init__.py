"""What Prometheus and its promtool say: of `/metrics` with data of every kind, and of the alert rules."""
