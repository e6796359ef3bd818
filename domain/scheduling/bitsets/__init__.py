"""Sets of systems as integers, and bit-sliced numbers for each system."""
