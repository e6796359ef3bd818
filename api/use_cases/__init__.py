"""The use cases of the HTTP API, one module each: load, decide, append.

The domain decides; a use case loads the state and appends the events. A conflict means that something
changed in between: the use case retries on fresh state.
"""
