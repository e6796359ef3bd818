"""Boards of Grafana: their role, functions and queries on a real PostgreSQL, and the shipped files."""
