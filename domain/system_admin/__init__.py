"""What people and labs do to a system: it joins its lab; its condition, draining, reservations, inventory."""
