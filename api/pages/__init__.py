"""The pages below `/ui/`: HTML for browsers, from the answers that the HTTP API gives."""
