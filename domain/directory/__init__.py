"""The directory of named things: users, groups, pools, lab controllers, distro trees, tokens."""
