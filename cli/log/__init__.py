"""Commands on the log: its events, the recorded reads of auditors, rebuild and verification."""
