"""What people see: tables that fit, states in their colours, values in words, how far it is."""
