"""The recorder of locks, in each process of a test run; it fails the run at a nesting against the order.

`installing` switches it on in a process, `wrappers` and `statements` see the locks of Python and of the
database, `recorder` writes them to the folder of the run, `observer` reads those of all sessions of a server,
`report` merges the files of all processes, and `plugin` is the part of pytest.
"""
