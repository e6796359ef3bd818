"""All tests; `python -m tests` runs them."""
