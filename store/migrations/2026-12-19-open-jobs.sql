-- Open jobs, the recipe sets that are added to them, and the stages of jobs.
CREATE TABLE read.added_sets (
    job_id         integer     NOT NULL,
    documents      jsonb       NOT NULL,
    since_position bigint      PRIMARY KEY,
    since          timestamptz NOT NULL,
    -- As of job documents, in 2026-12-08-conditions.
    has_conditions boolean GENERATED ALWAYS AS (
        documents @? '$[*] ? (exists (@.depends_on) || exists (@.reasons))'
    ) STORED
);
CREATE INDEX added_sets_job ON read.added_sets (job_id, since_position);
ALTER TABLE read.added_sets ALTER COLUMN documents SET STATISTICS 0;
GRANT SELECT, INSERT, UPDATE, DELETE ON read.added_sets TO labledger_service;

ALTER TABLE read.jobs
    ADD COLUMN stage   text    NOT NULL DEFAULT 'new',
    ADD COLUMN is_open boolean NOT NULL DEFAULT false;

-- The stage of each former row at its beginning. A stage that changed later within a row, as that of a job with several
-- recipes may, is there after a rebuild of the read models.
UPDATE read.jobs j SET stage = CASE
    WHEN seen.all_new THEN 'new'
    WHEN seen.aborted AND seen.unfinished THEN 'failing'
    WHEN seen.placed OR (seen.completed AND seen.unfinished) THEN 'running'
    WHEN seen.unfinished THEN 'accepted'
    WHEN seen.aborted AND NOT seen.had_system THEN 'rejected'
    WHEN seen.aborted THEN 'failed'
    WHEN seen.cancelled THEN 'cancelled'
    ELSE 'completed' END
FROM (
    SELECT o.job_id, o.since_position,
           bool_and(r.state = 'new') AS all_new,
           bool_or(r.state = 'aborted') AS aborted,
           bool_or(r.state = 'cancelled') AS cancelled,
           bool_or(r.state = 'completed') AS completed,
           bool_or(r.state NOT IN ('completed', 'cancelled', 'aborted')) AS unfinished,
           bool_or(r.state IN ('scheduled', 'waiting', 'installing', 'running', 'reserved')) AS placed,
           bool_or(EXISTS (SELECT FROM read.recipes h
                           WHERE h.recipe_id = d.recipe_id AND h.system IS NOT NULL
                             AND h.since_position <= o.since_position)) AS had_system
    FROM read.jobs o
    JOIN read.recipe_details d ON d.job_id = o.job_id
    JOIN read.recipes r ON r.recipe_id = d.recipe_id
     AND r.since_position <= o.since_position AND r.until_position > o.since_position
    GROUP BY o.job_id, o.since_position) AS seen
WHERE j.job_id = seen.job_id AND j.since_position = seen.since_position;
