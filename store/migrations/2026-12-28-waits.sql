-- The waits of recipes until they start, in the read models. Waits from before this migration are there after a rebuild of
-- the read models.
CREATE TABLE read.waits (
    recipe_id      integer     NOT NULL,
    partition      integer     NOT NULL,
    priority       smallint    NOT NULL,
    -- A digest of the requirement, and the architecture that it names, which is empty if it names none.
    requirement    text        NOT NULL,
    arch           text        NOT NULL,
    group_name     text,
    -- The beginning of the wait. A change of priority or requirement ends a row, and begins another one of this wait.
    began          timestamptz NOT NULL,
    -- The number of recipes that waited already, in this partition, with this architecture and at least this priority.
    ahead          integer     NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (recipe_id, since_position)
);
CREATE UNIQUE INDEX waits_open ON read.waits (recipe_id) WHERE until_position = 9223372036854775807;
-- The last ends of a kind up to a position, and the waits that still last there. A read of the past skips the waits that
-- began later by the last column, without reading their rows.
CREATE INDEX waits_requirement ON read.waits (partition, requirement, priority, until_position, since_position);
CREATE INDEX waits_arch ON read.waits (partition, arch, priority, until_position, since_position);
GRANT SELECT, INSERT, UPDATE, DELETE ON read.waits TO labledger_service;
