"""Explanations: why a recipe waits, why it got its system, and which systems could run a recipe.

Explanations use the same rules and bitmaps as decisions (design 5).
"""
