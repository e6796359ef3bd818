"""Systems: shown, changed, lent, exported and imported; their usage and their access policies."""
