-- Claims of waiting recipes to busy systems, in the read models. A recipe has at most one claim at a time. No recipe had a
-- claim before this migration.
CREATE TABLE read.claims (
    recipe_id      integer     NOT NULL,
    system         text        NOT NULL,
    forced         boolean     NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (recipe_id, since_position)
);
CREATE UNIQUE INDEX claims_open ON read.claims (recipe_id) WHERE until_position = 9223372036854775807;
CREATE INDEX claims_system ON read.claims (system) WHERE until_position = 9223372036854775807;
CREATE INDEX claims_then ON read.claims USING gist (int8range(since_position, until_position))
    WHERE until_position < 9223372036854775807;
GRANT SELECT, INSERT, UPDATE, DELETE ON read.claims TO labledger_service;
