"""A system: a machine of a lab, with an inventory, a condition and a usage."""
