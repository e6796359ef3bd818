"""`labledger lab`: generation, loading and simulation of labs."""
