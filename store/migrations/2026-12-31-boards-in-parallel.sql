-- The functions of boards may run in several processes at once: they read, and nothing of theirs belongs to a session.
-- Without these words PostgreSQL uses one process, because it decides that before a function becomes part of a query.
ALTER FUNCTION boards.systems PARALLEL SAFE;
ALTER FUNCTION boards.systems_over_time PARALLEL SAFE;
ALTER FUNCTION boards.usage PARALLEL SAFE;
ALTER FUNCTION boards.unplaced PARALLEL SAFE;
ALTER FUNCTION boards.unplaced_over_time PARALLEL SAFE;
ALTER FUNCTION boards.waits PARALLEL SAFE;
ALTER FUNCTION boards.provisionings PARALLEL SAFE;
