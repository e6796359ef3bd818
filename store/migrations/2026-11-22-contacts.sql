-- When each lab controller was last heard. It asks all the time, and none of it is history: no event, no log.

CREATE SCHEMA live;

CREATE TABLE live.contacts (
    lab_controller text        PRIMARY KEY,
    last_heard_at  timestamptz NOT NULL
);

GRANT USAGE ON SCHEMA live TO labledger_service;
GRANT SELECT, INSERT, UPDATE ON live.contacts TO labledger_service;
