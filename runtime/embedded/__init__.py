"""The PostgreSQL server that `labledger up` and the tests run: its programs, user, folder and life cycle."""
