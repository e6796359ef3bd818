"""Models of the JSON of answers."""
