"""The unfinished recipe sets: their states, and the indexes that follow each change of a state."""
