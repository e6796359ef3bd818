"""Tests with Prometheus and its promtool: `/metrics` with data of every kind, and the alert rules."""
