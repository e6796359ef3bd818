"""The HTTP API: `routes` is its table of contents, `app` composes the application."""
