-- An auditor who watches reads on, so that it was a stream and where it began says what was read.

ALTER TABLE log.reads
    ADD COLUMN is_stream boolean NOT NULL DEFAULT false,
    ADD COLUMN last_event_id text;
