-- An append reads by indexes alone. A session keeps the plans of its first appends, and while the log is small, those
-- scanned whole tables: an append then took longer with each commit before it, until the next ANALYZE.
--
-- Positions are known once the events are numbered, so the rows of the new commits are not read again.

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
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = log, pg_temp SET lock_timeout = '10s' SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    outcomes text[];
    firsts   bigint[];
    lasts    bigint[];
    base     bigint;
    moment   timestamptz;
    unknown  text;
BEGIN
    SELECT string_agg(v.topic, ', ') INTO unknown
    FROM (SELECT DISTINCT u.topic FROM unnest(event_topics) AS u (topic)) AS v
    WHERE NOT EXISTS (SELECT FROM topics t WHERE t.topic = v.topic);
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
    ), spans AS (
        SELECT k.request, min(k.position) AS first_position, max(k.position) AS last_position
        FROM kept k GROUP BY k.request
    ), written AS (
        INSERT INTO log.events
            (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at, partition)
        SELECT e.subject, e.version, e.topic, e.state, e.position, e.last_position, moment, partitions[e.request]
        FROM ended e ORDER BY e.position
    ), committed AS (
        INSERT INTO log.commits (command_id, first_position, last_position, recorded_at, digest, answer)
        SELECT command_ids[s.request], s.first_position, s.last_position, moment, digests[s.request], answers[s.request]
        FROM spans s
    )
    SELECT array_agg(s.first_position ORDER BY r.request), array_agg(s.last_position ORDER BY r.request)
    INTO firsts, lasts
    FROM generate_subscripts(command_ids, 1) AS r (request) LEFT JOIN spans s USING (request);

    -- Each partition is notified of its last new position.
    PERFORM pg_notify('labledger_log', max(lasts[r.request]) || ' ' || r.partition)
    FROM unnest(partitions) WITH ORDINALITY AS r (partition, request)
    WHERE lasts[r.request] IS NOT NULL GROUP BY r.partition;

    RETURN QUERY
    SELECT outcomes[r.request], coalesce(firsts[r.request], c.first_position),
        coalesce(lasts[r.request], c.last_position),
        CASE WHEN outcomes[r.request] = 'done' THEN moment ELSE c.recorded_at END,
        CASE WHEN outcomes[r.request] = 'done' THEN digests[r.request] ELSE c.digest END,
        CASE WHEN outcomes[r.request] = 'done' THEN answers[r.request] ELSE c.answer END,
        CASE WHEN r.lease_name IS NOT NULL AND outcomes[r.request] = 'done' THEN greatest(
            log.last_before(firsts[r.request], 0), log.last_before(firsts[r.request], r.partition)) END
    FROM unnest(command_ids, lease_names, partitions)
        WITH ORDINALITY AS r (command_id, lease_name, partition, request)
    LEFT JOIN LATERAL (
        SELECT * FROM log.commits w WHERE outcomes[r.request] = 'known' AND w.command_id = r.command_id
    ) AS c ON true
    ORDER BY r.request;
END $$;
