"""A simulated PostgreSQL server: sessions, faults, leases and read models over the log in memory.

It finds each statement of the service by its text, and answers like the SQL behind it.
"""
