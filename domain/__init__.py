"""What is true and what should happen next: aggregates, events, lifecycles, scheduling policy. Pure."""
