"""PostgreSQL for both sides: errors, SQL by name, binary COPY."""
