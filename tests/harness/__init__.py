"""What tests need and are not themselves: servers and databases, sessions and programs, appends, waiting."""
