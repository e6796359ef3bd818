-- What lists are filtered by is found by an index.
--
-- As with the queue: rows that are true now have one of their own, by what is asked for; those of then are few at any
-- one time, and found by the range in which they were true.

CREATE INDEX job_documents_owner ON read.job_documents (owner, job_id);
CREATE INDEX job_documents_group ON read.job_documents (group_name, job_id) WHERE group_name IS NOT NULL;
-- An expression, since those have statistics of their own: by those of the column the planner would take the jobs that
-- run now for as many as ever ran.
CREATE INDEX jobs_in_state ON read.jobs ((CASE WHEN until_position = 9223372036854775807 THEN state END), job_id)
    WHERE until_position = 9223372036854775807;
CREATE INDEX jobs_then ON read.jobs USING gist (int8range(since_position, until_position))
    WHERE until_position < 9223372036854775807;

-- There is one for the lab controller; conditions and usages are so few that the names in order serve as well.
CREATE INDEX systems_owner ON read.systems (owner) WHERE until_position = 9223372036854775807;
CREATE INDEX systems_pools ON read.systems USING gin (pools) WHERE until_position = 9223372036854775807;
CREATE INDEX systems_then ON read.systems USING gist (int8range(since_position, until_position))
    WHERE until_position < 9223372036854775807;
