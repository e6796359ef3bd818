"""Two act at once on the real store, in both orders, many times: one wins, and nothing is left over."""
