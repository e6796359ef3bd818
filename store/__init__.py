"""The log in PostgreSQL, on the extension points of the eventsourcing library.

`log.append` (in `migrations`) is the one statement that writes; `recorder` speaks it, and `mapper` turns
events into rows and back. `group_commit` joins what many threads append, `tailer` delivers what was appended,
and `lease` says who decides.
"""
