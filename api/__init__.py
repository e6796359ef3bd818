"""The HTTP API, and what it stands on: use cases, intake of jobs, the feed, metrics, the client."""
