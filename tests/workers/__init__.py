"""The scheduler and the projector as processes that are stopped and killed."""
