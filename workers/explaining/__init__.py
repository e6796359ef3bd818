"""Why a recipe waits, and who could run a job: answered by a process of its own that decides nothing.

Whoever explains must know what the scheduler knows, which is the whole of a partition; and it may not keep
the scheduler, which knows it already, from deciding.
"""
