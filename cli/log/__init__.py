"""The log: its events, who has read what, and what it says when it is folded again."""
