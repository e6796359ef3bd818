"""`labledger bench`: how fast it is, on real processes and a real database, beside the machine's own limits."""
