"""The cases of `labledger bench`, one module each: preparation and measurement."""
