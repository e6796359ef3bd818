"""Who uses the service, and what befalls it: submitters, operators, lab controllers, and faults."""
