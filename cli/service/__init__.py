"""Commands that run the services, measure them, and print the completion of shells."""
