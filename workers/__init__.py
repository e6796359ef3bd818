"""The processes that follow the log: the scheduler, which decides, and the projector, which shows."""
