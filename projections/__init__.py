"""Read models: tables that are folded from the log, and the queries over them."""
