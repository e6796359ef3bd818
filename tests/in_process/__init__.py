"""Labledger in the process of a test: use cases and a scheduler over a real log, run step by step.

The test chooses the order of actions: a log can run an action right before its next append.
"""
