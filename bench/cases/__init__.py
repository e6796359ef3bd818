"""The cases of `labledger bench`, a module each: what is set up, what is measured."""
