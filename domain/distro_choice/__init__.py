"""The choice of the distro tree that a submitted job installs; the scheduler never makes it."""
