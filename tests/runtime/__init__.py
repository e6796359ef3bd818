"""Tests of settings, child processes and the embedded PostgreSQL."""
