"""Random labs and histories on the real store, whose logs the audit checks."""
