"""The faults of the library's stock paths, each shown there and shown absent here by the same scenario.

The stock row of each test asserts that the fault occurs: it proves that the scenario can fail.
"""
