-- The retention tag of each job, its end, who keeps its results, and when they were deleted. No job was kept before this
-- migration, and no results were deleted.
ALTER TABLE read.jobs
    ADD COLUMN retention_tag text NOT NULL DEFAULT 'scratch',
    ADD COLUMN ended         timestamptz,
    ADD COLUMN kept          jsonb,
    ADD COLUMN deleted       jsonb;

-- The end of each former row of an ended job is the beginning of the first such row after its last other one.
UPDATE read.jobs j SET
    retention_tag = coalesce(j.changed ->> 'retention_tag', d.document ->> 'retention_tag', 'scratch'),
    ended = e.ended
FROM (
    SELECT numbered.job_id, numbered.since_position, CASE WHEN numbered.has_ended THEN
           min(numbered.since) FILTER (WHERE numbered.has_ended) OVER (PARTITION BY numbered.job_id, numbered.number)
           END AS ended
    FROM (
        SELECT o.job_id, o.since_position, o.since, h.has_ended,
               count(*) FILTER (WHERE NOT h.has_ended) OVER (PARTITION BY o.job_id ORDER BY o.since_position) AS number
        FROM read.jobs o
        CROSS JOIN LATERAL (
            SELECT o.state IN ('completed', 'cancelled', 'aborted') AND NOT o.is_open AS has_ended) AS h
    ) AS numbered
) AS e, read.job_documents d
WHERE e.job_id = j.job_id AND e.since_position = j.since_position AND d.job_id = j.job_id;

-- The jobs whose results are deleted next, by their tag.
CREATE INDEX jobs_to_delete ON read.jobs (retention_tag, ended, job_id)
    WHERE until_position = 9223372036854775807 AND ended IS NOT NULL AND kept IS NULL AND deleted IS NULL;

-- Commands to delete the logs of a job name no system.
ALTER TABLE read.commands
    ALTER COLUMN system DROP NOT NULL,
    ADD COLUMN job_id integer;
