"""The whole service in one process: time, network, crashes and faults from one seed (docs/simulation.md).

`python -m tests.simulation --seed N` prints the story of a seed.
"""
