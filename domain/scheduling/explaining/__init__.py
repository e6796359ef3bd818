"""Why a recipe waits, why it got its system, and who could run what is not submitted yet.

All of it asks the very rows and bitmaps by which the scheduler decides (design 5; api.md, explanation).
"""
