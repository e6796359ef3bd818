"""What people and labs do to a system: its condition, draining, reservations, inventory."""
