"""`kill -9` of whoever writes and of the database: what was acknowledged is there, once and in order."""
