"""What the program runs on: simulated time, strands in the place of threads, and chance from one seed."""
