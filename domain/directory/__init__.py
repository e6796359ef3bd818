"""What jobs and systems refer to by name: users, groups, pools, lab controllers, distro trees, tokens."""
