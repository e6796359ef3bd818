-- Hashes of passwords, which can be guessed with patience: beside the log, so that one that does not count any more
-- can be deleted, and in a schema of its own, so that nobody shows it by accident. Which one counts is in the log
-- (user.password-set).

CREATE SCHEMA secret;

CREATE TABLE secret.passwords (
    password_id text        PRIMARY KEY,
    user_name   text        NOT NULL,
    hash        text        NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX passwords_user ON secret.passwords (user_name);

GRANT USAGE ON SCHEMA secret TO labledger_service;
GRANT SELECT, INSERT, DELETE ON secret.passwords TO labledger_service;
