"""Recipe sets: recipes that start together in one lab."""
