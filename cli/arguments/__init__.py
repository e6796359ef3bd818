"""Arguments and options: their types, times, `NAME=VALUE`, `--as-of`, and the flags of settings."""
