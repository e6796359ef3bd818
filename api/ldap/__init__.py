"""The LDAP directory of an organisation: its settings, and how its people and groups are read."""
