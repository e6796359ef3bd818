"""`labledger workflow`: a job, written by options."""
