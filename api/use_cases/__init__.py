"""The use cases of the HTTP API: load, decide, append.

The domain decides; a use case loads the state and appends the events. If the state has changed in between,
the append is a conflict, and the use case retries on fresh state.
"""
