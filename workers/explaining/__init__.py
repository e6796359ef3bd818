"""The explaining process: explanations of waits and grants, and the systems that could run a job.

It is separate from the scheduler because an explanation needs the whole state of the scheduler, and must not
delay decisions.
"""
