-- What a scheduler knew at a position, in JSON. It may be thrown away at any time: the log has it all.

CREATE TABLE live.snapshots (
    name     text        PRIMARY KEY,
    code     text        NOT NULL,
    position bigint      NOT NULL,
    content  bytea       NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now()
);
-- It is JSON, which compresses well, and it is written seldom.
ALTER TABLE live.snapshots ALTER COLUMN content SET STORAGE EXTENDED;

GRANT SELECT, INSERT, UPDATE ON live.snapshots TO labledger_service;
