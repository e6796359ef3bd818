"""A recipe set: recipes that start together, in one lab; who leaves, loses or ends takes the others along."""
