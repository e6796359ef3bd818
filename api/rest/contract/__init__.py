"""What the HTTP API promises, as data: it checks what comes in, and `/openapi.json` shows it to clients."""
