"""Models of the JSON that clients send, which validate it."""
