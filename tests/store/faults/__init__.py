"""Faults of the library's stock paths: each scenario shows the fault there, and its absence here.

The stock parameter of each test asserts the fault, which proves that the scenario can fail.
"""
