"""Labs, jobs and queues of any size, generated from a seed."""
