"""Jobs: recipe sets that are submitted together."""
