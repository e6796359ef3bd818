"""`labledger overview`: reading, summing up and drawing the state of the labs."""
