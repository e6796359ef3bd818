"""Who somebody is: logins, passwords, tokens."""
