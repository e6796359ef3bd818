-- The resource locks that recipes declare, hold and await, in the read models. Of earlier recipes none has any.

ALTER TABLE read.recipe_details ADD COLUMN locks jsonb NOT NULL DEFAULT '{}';
ALTER TABLE read.recipe_details ALTER COLUMN locks SET STATISTICS 0;
ALTER TABLE read.recipes ADD COLUMN awaits_locks boolean NOT NULL DEFAULT false;

-- One row for each lock. An empty name stands for everything at the level.
CREATE TABLE read.locks (
    recipe_id      integer     NOT NULL,
    level          text        NOT NULL,
    name           text        NOT NULL,
    state          text        NOT NULL,
    mode           text        NOT NULL,
    recipe_set_id  integer     NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (recipe_id, level, name, since_position)
);
CREATE INDEX locks_open ON read.locks (level, name, recipe_id, mode) WHERE until_position = 9223372036854775807;
-- Mostly few locks are awaited.
CREATE INDEX locks_awaited ON read.locks (level, name, recipe_id, mode)
    WHERE until_position = 9223372036854775807 AND state = 'awaited';
-- Few locks have the name that stands for the pools of a system; a query replaces it.
CREATE INDEX locks_pools ON read.locks (recipe_id)
    WHERE until_position = 9223372036854775807 AND name = '$pools';
CREATE INDEX locks_then ON read.locks USING gist (int8range(since_position, until_position))
    WHERE until_position < 9223372036854775807;

-- The number of locks by level and state, as in 2026-12-03-open-counts.
CREATE TABLE read.lock_counts (
    level      text   NOT NULL,
    state      text   NOT NULL,
    open_count bigint NOT NULL,
    PRIMARY KEY (level, state)
) WITH (fillfactor = 10);

GRANT SELECT, INSERT, UPDATE, DELETE ON read.locks, read.lock_counts TO labledger_service;
