"""`labledger lab`: labs loaded from a file or generated, and the simulation of their machines."""
