"""PostgreSQL utilities for store and projections: errors, named SQL, binary COPY, parts of the log."""
