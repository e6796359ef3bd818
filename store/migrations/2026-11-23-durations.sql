-- How long recipes waited, were provisioned and ran: how many in each bucket, and their seconds together. The bounds
-- of the buckets are in `projections/durations.py`.

CREATE TABLE read.durations (
    measure        text             NOT NULL,
    bucket         integer          NOT NULL,
    count          bigint           NOT NULL,
    seconds        double precision NOT NULL,
    since_position bigint           NOT NULL,
    since          timestamptz      NOT NULL,
    until_position bigint           NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz      NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (measure, bucket, since_position)
);
CREATE UNIQUE INDEX durations_open ON read.durations (measure, bucket)
    WHERE until_position = 9223372036854775807;

GRANT SELECT, INSERT, UPDATE, DELETE ON read.durations TO labledger_service;

-- All of them are built anew from the log, so that what is over already is counted, too.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'read' AND tablename <> 'progress' LOOP
        EXECUTE format('TRUNCATE read.%I', name);
    END LOOP;
END $$;

UPDATE read.progress SET position = 0, recorded_at = NULL;
