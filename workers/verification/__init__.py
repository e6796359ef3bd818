"""`labledger replay verify`: each part in a process of its own, and what they find, together."""
