"""Estimates of the time until a waiting recipe starts, from the waits of comparable recipes."""
