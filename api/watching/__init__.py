"""Watching the log as it grows: who watches takes what it selects in time, or is cut; nobody waits for it."""
