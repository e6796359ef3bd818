"""The explaining processes, two for each partition: one of the present, and one of the past.

They explain waits and grants, and tell which systems could run a job. Each is separate from its scheduler
because an explanation needs the whole state of the scheduler, and must not delay decisions.
"""
