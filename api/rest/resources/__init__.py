"""The resources in the table of routes."""
