"""Random labs and histories over the real store: what the log says then is judged from the log alone."""
