"""Support of tests: servers and databases, sessions and programs, appends, waiting."""
