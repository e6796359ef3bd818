-- The search among jobs, in the read models.

-- An inverted index of jobs, because the extension for that (pg_trgm) is not in the PostgreSQL of `labledger up`. A row has
-- the jobs of a block that have or had a term (`projections/job_terms.py`). `since_position` is the position of its first
-- jobs, `last_position` that of the last jobs that were added. The row '' of a block has all its jobs. Few rows are updated.
CREATE TABLE read.job_terms (
    term           text COLLATE "C" NOT NULL,
    block          integer          NOT NULL,
    jobs           bit(2048)        NOT NULL,
    since_position bigint           NOT NULL,
    last_position  bigint           NOT NULL,
    PRIMARY KEY (term, block)
) WITH (fillfactor = 90);
ALTER TABLE read.job_terms ALTER COLUMN jobs SET STATISTICS 0;
-- The positions at which blocks were closed, for time spans.
CREATE INDEX job_terms_closed ON read.job_terms (since_position, block) WHERE term = '';
GRANT SELECT, INSERT, UPDATE, DELETE ON read.job_terms TO labledger_service;

-- The row '!' has the last block from before this migration that has no rows. A rebuild of the read models has rows for all.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
INSERT INTO read.job_terms (term, block, jobs, since_position, last_position)
SELECT '!', max(d.job_id) / 2048 - 2, repeat('0', 2048)::bit(2048), 0, 0
FROM read.job_documents d HAVING max(d.job_id) / 2048 >= 2;

-- Jobs that people have changed.
CREATE INDEX jobs_changed ON read.jobs (job_id) WHERE changed IS NOT NULL;
-- Searches use the terms instead.
DROP INDEX read.job_documents_group;
DROP INDEX read.job_documents_partition;

-- The systems on which recipes of a job started, at each start.
CREATE TABLE read.job_systems (
    system         text        NOT NULL,
    job_id         integer     NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    PRIMARY KEY (system, job_id, since_position)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON read.job_systems TO labledger_service;

INSERT INTO read.job_systems (system, job_id, since_position, since)
SELECT r.system, d.job_id, r.since_position, r.since
FROM (SELECT *, state IN ('waiting', 'installing', 'running', 'reserved') AND NOT awaits_locks AS started FROM read.recipes) AS r
JOIN read.recipe_details d ON d.recipe_id = r.recipe_id AND d.host_recipe_id IS NULL
WHERE r.started AND r.system IS NOT NULL AND NOT EXISTS (
    SELECT FROM read.recipes p
    WHERE p.recipe_id = r.recipe_id AND p.until_position = r.since_position
      AND p.state IN ('waiting', 'installing', 'running', 'reserved') AND NOT p.awaits_locks);
