"""Deadlock avoidance: holders, and the plans to complete them."""
