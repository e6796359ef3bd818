"""What the machine itself can do, measured in the same run: what a case is held against."""
