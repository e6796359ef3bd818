"""Explanations of waits, grants and viable systems, by the rules and bitmaps of decisions (design 5)."""
