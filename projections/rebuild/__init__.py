"""The read models made anew from the log, beside the live ones: to take their place, or to be compared."""
