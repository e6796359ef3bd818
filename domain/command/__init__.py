"""What a lab controller is told to do, and how far it has come."""
