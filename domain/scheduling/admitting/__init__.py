"""Admission: the recipe sets that must not get a first system now, and the outcomes they depend on."""
