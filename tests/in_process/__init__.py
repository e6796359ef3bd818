"""Labledger in the process of a test: its use cases and its scheduler over a real log, moved step by step.

Who acts in between whom is up to the test: a log can be told what happens right before its next append.
"""
