"""Recipe sets: recipes that start together, in one lab, and their common decisions."""
