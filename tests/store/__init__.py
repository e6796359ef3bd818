"""Tests of the event store, on real servers and in memory, and of faults of the library that it avoids."""
