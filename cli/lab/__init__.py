"""`labledger lab`: a lab from a file or made up, its machines simulated over the API."""
