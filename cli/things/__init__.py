"""What jobs run on and for: systems, and what else is known by name; shown and changed."""
