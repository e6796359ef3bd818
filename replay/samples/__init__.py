"""A small lab and four jobs for it, as files that ship with the package."""
