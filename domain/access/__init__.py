"""Access to systems: policies, loans, and their meaning for people and recipes."""
