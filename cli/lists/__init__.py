"""Everything that there are many of: the commands that list it, and its names for a shell to complete."""
