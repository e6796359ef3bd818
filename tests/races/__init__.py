"""Two act in the same moment on the real store, in both orders, many times: one wins, nothing is left over."""
