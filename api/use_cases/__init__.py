"""What a request changes, one file for each use: load, decide, save.

The domain decides; these fetch what it decides on and append what it says. A conflict means that something
changed between loading and saving: it is tried again on fresh state.
"""
