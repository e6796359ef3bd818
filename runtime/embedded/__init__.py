"""The PostgreSQL server that `labledger up` and the tests run: its programs, user, folders and life cycle."""
