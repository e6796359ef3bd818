"""The pure domain: aggregates, events, lifecycles, scheduling policy."""
