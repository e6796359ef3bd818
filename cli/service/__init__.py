"""Labledger itself: its processes, alone or all together, and the completion of a shell."""
