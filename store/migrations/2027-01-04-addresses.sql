-- The addresses of the clients whose requests have changed something. They are kept beside the log, because they must
-- be deleted after some days: without them the log is as whole as before.

CREATE TABLE live.addresses (
    command_id  text        PRIMARY KEY,
    recorded_at timestamptz NOT NULL,
    address     text        NOT NULL
);

-- The oldest are deleted first.
CREATE INDEX addresses_recorded_at ON live.addresses (recorded_at);

GRANT SELECT, INSERT, DELETE ON live.addresses TO labledger_service;
