"""The JSON of answers."""
