"""The same domain on recorded or simulated time; today the simulated lab."""
