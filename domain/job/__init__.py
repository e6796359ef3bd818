"""A job: recipe sets submitted together; a recipe set: recipes that start together."""
