"""Live pages: parts of pages that the server renders again when they change, and streams to browsers."""
