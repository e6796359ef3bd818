"""What must be true of every seed, judged by what the service has said and by its log."""
