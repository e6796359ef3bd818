"""Administration of systems: registration, condition, draining, loans, reservations, policy, inventory."""
