"""Sets of systems as integers, and numbers for each system as bit planes."""
