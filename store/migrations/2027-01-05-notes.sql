-- Notes on systems, in the read models. No system has a note before this migration.
CREATE TABLE read.system_notes (
    note_id        bigint      NOT NULL,
    fqdn           text        NOT NULL,
    text           text        NOT NULL,
    author         text        NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (note_id, since_position)
);
CREATE INDEX system_notes_system ON read.system_notes (fqdn, note_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON read.system_notes TO labledger_service;
