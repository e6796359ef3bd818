"""What `/metrics` tells: each metric declared once, what the processes count, and the rows behind it."""
