"""A recipe: tasks that need one system."""
