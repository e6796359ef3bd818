"""The processes of the service, put together as `api/root*.py` do it, over the simulated database."""
