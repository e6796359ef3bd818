-- Jobs byte for byte as they were submitted. Events name them by their SHA-256, in the transaction that writes them, and
-- equal submissions share a row. As append-only as the log, and beside it: nothing is decided by them.

CREATE TABLE log.originals (
    sha256  bytea PRIMARY KEY CHECK (sha256 = pg_catalog.sha256(content)),
    content bytea NOT NULL CHECK (octet_length(content) <= 1048576)
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log.originals
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

GRANT INSERT, SELECT ON log.originals TO labledger_service;
