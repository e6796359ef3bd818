"""The metrics of `/metrics`: their declarations, the counters of the processes, and the queries."""
