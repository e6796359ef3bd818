"""`kill -9` of writers and of the database: acknowledged commits are in the log, once and in order."""
