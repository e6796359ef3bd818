"""Explanations of waits and grants, and systems that could run a job, by a process that decides nothing.

An explanation needs the whole state of the scheduler, and must not delay its decisions.
"""
