"""Output for people: tables, colours of states, formatting of values, progress."""
