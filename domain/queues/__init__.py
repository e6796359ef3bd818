"""Queues: the tree that shares the systems of a partition among teams (design 6.2)."""
