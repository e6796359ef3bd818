-- Durations have a label: waits the priority of the recipe set, failed provisionings the state in which they failed, the
-- others none. Waits that were counted without a priority are in no metric; `labledger replay rebuild` counts them by
-- priority.

ALTER TABLE read.durations ADD COLUMN label text NOT NULL DEFAULT '';
ALTER TABLE read.durations ALTER COLUMN label DROP DEFAULT;
ALTER TABLE read.durations DROP CONSTRAINT durations_pkey;
ALTER TABLE read.durations ADD PRIMARY KEY (measure, label, bucket, since_position);
DROP INDEX read.durations_open;
CREATE UNIQUE INDEX durations_open ON read.durations (measure, label, bucket)
    WHERE until_position = 9223372036854775807;
