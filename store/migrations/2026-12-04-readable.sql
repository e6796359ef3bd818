-- A service compares these names with its own before it starts.
GRANT SELECT ON public.labledger_migrations TO labledger_service;
