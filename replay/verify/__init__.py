"""Verification: recompute each decision of a log and compare it with the recorded one (design section 8)."""
