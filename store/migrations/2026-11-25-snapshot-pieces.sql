-- What a scheduler knew at a position, in pieces that are made one by one between its decisions. It is whole when
-- the last is there and none before it is missing. It may be thrown away at any time: the log has it all.

DROP TABLE live.snapshots;

CREATE TABLE live.snapshots (
    name     text        NOT NULL,
    attempt  text        NOT NULL,
    number   integer     NOT NULL,
    is_last  boolean     NOT NULL,
    code     text        NOT NULL,
    position bigint      NOT NULL,
    content  bytea       NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, attempt, number)
);

GRANT SELECT, INSERT, DELETE ON live.snapshots TO labledger_service;
