"""Admission: dependencies, job filters, rate limits by reason, and the configuration of a partition."""
