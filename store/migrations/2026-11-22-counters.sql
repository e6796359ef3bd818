-- What processes count since they were started. A counter that begins again at 0 says so: Prometheus knows that.

CREATE TABLE live.counters (
    process  text        NOT NULL,
    name     text        NOT NULL,
    value    bigint      NOT NULL,
    shown_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (process, name)
);

GRANT SELECT, INSERT, UPDATE ON live.counters TO labledger_service;
