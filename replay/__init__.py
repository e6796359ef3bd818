"""Replay of logs and simulation: the audit, the recomputation of decisions, a simulated lab and workloads."""
