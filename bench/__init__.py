"""`labledger bench`: performance on real processes and a real database, and the limits of the machine."""
