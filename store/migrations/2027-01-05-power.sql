-- Power settings of systems, whose secrets must not be in the log: beside it, and present ones only. An append writes them
-- in its transaction. No constraint may fail: its message would have the row.
CREATE TABLE secret.power_settings (
    system    text PRIMARY KEY,
    type      text,
    address   text,
    port      text,
    user_name text,
    secret    text
);
GRANT SELECT, INSERT, UPDATE, DELETE ON secret.power_settings TO labledger_service;
