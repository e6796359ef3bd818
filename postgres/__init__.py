"""PostgreSQL utilities for store and projections: errors, named SQL statements, binary COPY."""
