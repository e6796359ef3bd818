"""The PostgreSQL that `labledger up` and the tests bring along: its programs, user, folder and life."""
