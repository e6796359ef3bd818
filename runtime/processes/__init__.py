"""Running processes, and being one: who starts and ends whom, and how a process is told to stop."""
