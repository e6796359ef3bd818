-- What was true at a position of long ago is found without all that was true since.
--
-- Rows that are true now are in an index already, and few. These are of the others alone: a row comes into them once,
-- when it ends, and never moves.

DROP INDEX read.queue_until;
CREATE INDEX queue_then ON read.queue USING gist (int8range(since_position, until_position))
    WHERE until_position < 9223372036854775807;

DROP INDEX read.idle_pool_until;
CREATE INDEX idle_pool_then ON read.idle_pool USING gist (int8range(since_position, until_position))
    WHERE until_position < 9223372036854775807;

-- Usage is looked for system by system.
DROP INDEX read.system_usage_until_position;
DROP INDEX read.system_usage_until;
