"""`labledger overview`: read, summed up, drawn."""
