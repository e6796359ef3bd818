-- The time of an append grew with the square of its requests: the planner, which expects one row of these arrays,
-- joined the events with their requests by comparing all of them.

CREATE OR REPLACE FUNCTION log.append(
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
DECLARE
    outcomes text[];
    base     bigint;
    moment   timestamptz;
    unknown  text;
BEGIN
    SELECT string_agg(DISTINCT v.topic, ', ') INTO unknown
    FROM unnest(event_topics) AS v (topic) WHERE NOT EXISTS (SELECT FROM topics t WHERE t.topic = v.topic);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'no migration has registered the topic %', unknown USING ERRCODE = 'check_violation';
    END IF;
    -- One writer at a time, commit included: positions become visible in their order, so no reader skips one.
    LOCK TABLE log.writer IN EXCLUSIVE MODE;
    -- A lease that is changing hands lets this commit end first, or makes it wait and then fence it.
    PERFORM 1 FROM log.leases l WHERE l.name = ANY (lease_names) FOR SHARE;

    SELECT array_agg(
        CASE
            WHEN EXISTS (SELECT FROM log.commits c WHERE c.command_id = r.command_id) THEN 'known'
            WHEN r.lease_name IS NOT NULL AND r.lease_epoch IS DISTINCT FROM
                (SELECT l.epoch FROM log.leases l WHERE l.name = r.lease_name) THEN 'fenced'
            WHEN stale.request IS NOT NULL THEN 'conflict'
            ELSE 'done'
        END ORDER BY r.request)
    INTO outcomes
    FROM unnest(command_ids, lease_names, lease_epochs)
        WITH ORDINALITY AS r (command_id, lease_name, lease_epoch, request)
    LEFT JOIN (
        SELECT DISTINCT x.request
        FROM unnest(expect_requests, expect_subjects, expect_versions) AS x (request, subject, version)
        WHERE x.version <> coalesce(
            (SELECT e.originator_version FROM log.events e WHERE e.originator_id = x.subject
             ORDER BY e.originator_version DESC LIMIT 1), 0)
    ) AS stale USING (request);

    SELECT e.notification_id, e.recorded_at INTO base, moment
    FROM log.events e ORDER BY e.notification_id DESC LIMIT 1;
    base := coalesce(base, 0);
    moment := greatest(clock_timestamp(), moment);

    WITH kept AS (
        SELECT v.*, base + row_number() OVER (ORDER BY v.ordinality) AS position
        FROM unnest(event_requests, event_subjects, event_versions, event_topics, event_states)
            WITH ORDINALITY AS v (request, subject, version, topic, state, ordinality)
        WHERE outcomes[v.request] = 'done'
    ), ended AS (
        SELECT k.*, max(k.position) OVER (PARTITION BY k.request) AS last_position FROM kept k
    ), written AS (
        INSERT INTO log.events
            (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at, partition)
        SELECT e.subject, e.version, e.topic, e.state, e.position, e.last_position, moment, partitions[e.request]
        FROM ended e ORDER BY e.position
    )
    INSERT INTO log.commits (command_id, first_position, last_position, recorded_at, digest, answer)
    SELECT command_ids[k.request], min(k.position), max(k.position), moment, digests[k.request], answers[k.request]
    FROM kept k GROUP BY k.request;

    -- Each partition is notified of its last new position.
    PERFORM pg_notify('labledger_log', max(c.last_position) || ' ' || r.partition)
    FROM unnest(command_ids, partitions) AS r (command_id, partition)
    JOIN log.commits c ON c.command_id = r.command_id
    WHERE c.first_position > base GROUP BY r.partition;

    RETURN QUERY
    SELECT outcomes[r.request], c.first_position, c.last_position, c.recorded_at, c.digest, c.answer,
        CASE WHEN r.lease_name IS NOT NULL AND outcomes[r.request] = 'done' THEN greatest(
            log.last_before(c.first_position, 0), log.last_before(c.first_position, r.partition)) END
    FROM unnest(command_ids, lease_names, partitions)
        WITH ORDINALITY AS r (command_id, lease_name, partition, request)
    LEFT JOIN log.commits c ON c.command_id = r.command_id AND outcomes[r.request] IN ('done', 'known')
    ORDER BY r.request;
END $$;
