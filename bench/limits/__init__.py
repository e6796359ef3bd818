"""Limits of the machine, measured in the same run as a case and compared with its figures."""
