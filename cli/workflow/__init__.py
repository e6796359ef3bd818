"""`labledger workflow`: a job described by options."""
