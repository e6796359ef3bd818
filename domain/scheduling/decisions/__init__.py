"""Decisions: the answers to triggers, from a draft to the events of a commit."""
