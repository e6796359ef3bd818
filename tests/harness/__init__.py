"""What tests need and are not themselves: PostgreSQL servers, and a fresh database on one of them."""
