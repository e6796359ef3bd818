"""Users, groups, pools, lab controllers and distro trees: shown and changed one at a time."""
