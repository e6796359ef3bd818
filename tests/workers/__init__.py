"""The scheduler, the projector and the child processes, which are stopped and killed."""
