"""The contract of the HTTP API as data: it validates requests, and `/openapi.json` shows it to clients."""
