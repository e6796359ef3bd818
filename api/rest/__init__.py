"""The HTTP API: `routes` is its table of contents, `app` puts it together."""
