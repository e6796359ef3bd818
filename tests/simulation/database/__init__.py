"""A stand-in for PostgreSQL and nothing else: it knows each statement of the service by its text, and answers
as the SQL behind it would. What it promises is tested by the tests of the real log (tests/store).
"""
