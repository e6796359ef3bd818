"""The HTTP API, its use cases, parsing of jobs, the log feed, metrics, and the HTTP client."""
