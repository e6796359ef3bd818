"""The processes of the service over the simulated database, built as in `api/root*.py`."""
