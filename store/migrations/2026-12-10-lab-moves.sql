-- Numbers of partitions: 1 is `default`, and none is ever used again.
CREATE SEQUENCE log.partition_numbers AS integer START 2;
GRANT USAGE ON SEQUENCE log.partition_numbers TO labledger_service;

-- Ids of a new database begin with a number, and ascend by a number, of the operator's choice, so that those of two
-- databases can differ. The next id of an older database stays what it is.
DO $$
DECLARE
    ids text;
    first text := coalesce(nullif(current_setting('labledger.id_start', true), ''), '1');
    step text := coalesce(nullif(current_setting('labledger.id_step', true), ''), '1');
BEGIN
    IF NOT EXISTS (SELECT FROM log.events) THEN
        FOREACH ids IN ARRAY ARRAY['job_ids', 'recipe_set_ids', 'recipe_ids', 'task_ids'] LOOP
            EXECUTE format('ALTER SEQUENCE log.%I INCREMENT BY %s START WITH %s RESTART', ids, step, first);
        END LOOP;
    END IF;
END $$;

-- An append that is in conflict if a system has joined a lab after the position `seen`. A lab moves with all of its
-- systems, and no version tells whether it has got another one.
CREATE FUNCTION log.append_unless_joined(
    seen             bigint,
    command_ids      text[],
    lease_names      text[],
    lease_epochs     bigint[],
    digests          bytea[],
    answers          bytea[],
    expect_requests  integer[],
    expect_subjects  text[],
    expect_versions  bigint[],
    partitions       integer[],
    event_requests   integer[],
    event_subjects   text[],
    event_versions   bigint[],
    event_topics     text[],
    event_states     bytea[]
) RETURNS TABLE (
    outcome        text,
    first_position bigint,
    last_position  bigint,
    recorded_at    timestamptz,
    digest         bytea,
    answer         bytea,
    preceding      bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp SET lock_timeout = '10s' AS $$
#variable_conflict use_column
BEGIN
    LOCK TABLE log.writer IN EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM events e WHERE e.topic IN ('system.registered', 'system.lab-controller-changed')
               AND e.notification_id > seen)
       AND NOT EXISTS (SELECT FROM commits c WHERE c.command_id = ANY (command_ids)) THEN
        outcome := 'conflict';
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM log.append(
        command_ids, lease_names, lease_epochs, digests, answers, expect_requests, expect_subjects, expect_versions,
        partitions, event_requests, event_subjects, event_versions, event_topics, event_states);
END $$;

REVOKE ALL ON FUNCTION log.append_unless_joined FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.append_unless_joined TO labledger_service;
