"""The order of locks: its declaration, compared with the code, and the recorder of nestings."""
