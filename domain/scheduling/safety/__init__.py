"""Deadlock avoidance: sets that hold systems, and the plans to complete them."""
