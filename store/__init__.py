"""The event log in PostgreSQL, on the extension points of the eventsourcing library.

The function `log.append` (in `migrations`) is the only way to write. `recorder` calls it, `mapper` converts
events to rows and back, and `event_log` joins both. `group_commit` combines concurrent appends, `tailer`
delivers new rows, and `lease` elects the active scheduler. `in_memory` is an event log without a database.
"""
