"""Commands for lab controllers, and their states."""
