-- What processes count, added up over all of them and over their restarts: each adds what is new every few seconds.
-- What was counted before was of single processes since they were started, and is dropped.

DROP TABLE live.counters;

CREATE TABLE live.counters (
    name   text             NOT NULL,
    labels jsonb            NOT NULL,
    value  double precision NOT NULL,
    PRIMARY KEY (name, labels)
    -- The same rows are written all the time: room to do so without touching the index.
) WITH (fillfactor = 50);

-- The last batch of each process, so that none is added twice, and what it has at hand now.
CREATE TABLE live.counter_writers (
    writer   text        PRIMARY KEY,
    batch    bigint      NOT NULL,
    watchers integer     NOT NULL,
    told_at  timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE ON live.counters TO labledger_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON live.counter_writers TO labledger_service;
