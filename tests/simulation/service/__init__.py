"""The processes of the service, put together as `api/root.py` does, over the simulated database."""
