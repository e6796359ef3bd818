"""The choice of the distro tree that each recipe of a new set installs. The scheduler does not use it."""
