"""The resources that the table of routes names, and how they show what they read."""
