"""The same domain on recorded or simulated time; today the simulated lab, and labs made up from a seed."""
