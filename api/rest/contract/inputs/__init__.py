"""The JSON that clients send, as models that check it."""
