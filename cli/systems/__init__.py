"""Commands that show, change, lend, export and import systems, with their usage and access policies."""
