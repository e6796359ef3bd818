"""Waiting recipes: indexes by filter, submitter and rank."""
