"""The explaining processes, one for each partition.

They explain waits and grants, and tell which systems could run a job. Each is separate from its scheduler
because an explanation needs the whole state of the scheduler, and must not delay decisions.
"""
