"""Users and faults: submitters, operators, owners of systems, and what goes wrong."""
