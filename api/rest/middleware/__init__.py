"""Middleware, which every request passes before its resource, and every answer after it."""
