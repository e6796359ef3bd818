"""Races: two actors change the same things in the real store, in both orders, many times."""
