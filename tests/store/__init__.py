"""The event store on real servers: what it promises, and the faults of stock paths that it avoids."""
