"""What people type: kinds of arguments, moments, `NAME=VALUE`, `--as-of`, the flags of settings."""
