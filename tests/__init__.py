"""Proof, cheapest first; `python -m tests` runs all of it."""
