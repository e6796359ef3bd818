"""Commands that show and change one user, group, pool, lab controller or distro tree."""
