"""The scheduler's view of the log: the partition, the triggers of events, snapshots."""
