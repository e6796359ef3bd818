-- Each event belongs to one partition, or to all (0): so do those from before this migration. Numbers of partitions
-- are never used again.

ALTER TABLE log.events ADD COLUMN partition integer NOT NULL DEFAULT 0 CHECK (partition >= 0);
CREATE INDEX events_partition ON log.events (partition, notification_id);

-- The last position of a partition's events before a position; 0 without any. The comparison of whole rows forces the
-- intended index: with an equality the planner may walk the positions of all other partitions instead.
CREATE FUNCTION log.last_before(before bigint, of_partition integer) RETURNS bigint
LANGUAGE sql STABLE SET search_path = log, pg_temp AS $$
    SELECT coalesce((
        SELECT e.notification_id FROM events e
        WHERE (e.partition, e.notification_id) < (of_partition, before) AND e.partition >= of_partition
        ORDER BY e.partition DESC, e.notification_id DESC LIMIT 1), 0)
$$;

-- `partitions` has the partition of each request, and so of its events. `preceding` is the last position before a
-- request with a lease that its partition reads: of its own events, or of those of all partitions.
DROP FUNCTION log.append;
CREATE FUNCTION log.append(
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
    ), ends AS (
        SELECT k.request, min(k.position) AS first_position, max(k.position) AS last_position
        FROM kept k GROUP BY k.request
    ), written AS (
        INSERT INTO log.events
            (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at, partition)
        SELECT k.subject, k.version, k.topic, k.state, k.position, n.last_position, moment, partitions[k.request]
        FROM kept k JOIN ends n USING (request) ORDER BY k.position
    )
    INSERT INTO log.commits (command_id, first_position, last_position, recorded_at, digest, answer)
    SELECT command_ids[n.request], n.first_position, n.last_position, moment,
           digests[n.request], answers[n.request]
    FROM ends n;

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

-- The number of each lease, for its advisory lock: a hash of its name could be that of another lease, too. The first
-- half of the key is that of leases alone.
CREATE TABLE log.lease_numbers (
    name   text    PRIMARY KEY,
    number integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY
);

CREATE FUNCTION log.lease_number(lease text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM lease_numbers n WHERE n.name = lease) THEN
        INSERT INTO lease_numbers (name) VALUES (lease) ON CONFLICT DO NOTHING;
    END IF;
    RETURN (SELECT n.number FROM lease_numbers n WHERE n.name = lease);
END $$;

CREATE OR REPLACE FUNCTION live.lease_session(lease text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.pid FROM pg_locks k
    WHERE k.locktype = 'advisory' AND k.granted AND k.objsubid = 2
      AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND k.classid = 19533::oid AND k.objid = (SELECT n.number::oid FROM log.lease_numbers n WHERE n.name = lease)
$$;

CREATE OR REPLACE FUNCTION live.take_lease(lease text, new_holder text, seconds double precision) RETURNS bigint
LANGUAGE plpgsql SET search_path = live, pg_temp AS $$
DECLARE
    taken bigint;
BEGIN
    IF NOT pg_try_advisory_lock(19533, log.lease_number(lease)) THEN
        RETURN NULL;
    END IF;
    taken := log.take_lease(lease, new_holder);
    INSERT INTO leases AS l (name, epoch, holder, pid, renewed_at, lease_seconds)
    VALUES (lease, taken, new_holder, pg_backend_pid(), clock_timestamp(), seconds)
    ON CONFLICT (name) DO UPDATE
        SET epoch = excluded.epoch, holder = excluded.holder, pid = excluded.pid,
            renewed_at = excluded.renewed_at, lease_seconds = excluded.lease_seconds;
    RETURN taken;
END $$;

REVOKE ALL ON FUNCTION log.append, log.last_before, log.lease_number FROM PUBLIC;
GRANT SELECT ON log.lease_numbers TO labledger_service;
GRANT EXECUTE ON FUNCTION log.append, log.last_before, log.lease_number TO labledger_service;
