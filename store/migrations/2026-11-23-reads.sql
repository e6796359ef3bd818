-- What auditors have read, each row written before its read is answered. It is as append-only as the log, and beside
-- it: an event for each read would move the log, and what is read of it, for ever.

CREATE TABLE log.reads (
    read_id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    user_name   text        NOT NULL,
    role        text        NOT NULL,
    token_id    text        NOT NULL,
    method      text        NOT NULL,
    path        text        NOT NULL,
    query       text        NOT NULL,
    request_id  text        NOT NULL
);
CREATE INDEX reads_user ON log.reads (user_name, read_id);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log.reads
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

GRANT INSERT, SELECT ON log.reads TO labledger_service;
