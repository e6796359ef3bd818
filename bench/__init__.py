"""`labledger bench`: how fast it is, on real processes and a real database, and what the machine can do."""
