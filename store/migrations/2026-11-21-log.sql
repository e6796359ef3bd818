-- The log: events, commits, leases and the numbers of jobs, with nothing that could change an event.

CREATE SCHEMA log;

CREATE TABLE log.events (
    originator_id      text        NOT NULL,
    originator_version bigint      NOT NULL CHECK (originator_version > 0),
    topic              text        NOT NULL,
    state              bytea       NOT NULL,
    notification_id    bigint      NOT NULL,
    commit_end         bigint      NOT NULL,
    recorded_at        timestamptz NOT NULL,
    PRIMARY KEY (originator_id, originator_version)
);

CREATE UNIQUE INDEX events_position ON log.events (notification_id);

-- Kinds of event that are rare are found without reading the whole log: the directory when a process starts,
-- and what somebody asks to be shown.
CREATE INDEX events_topic ON log.events (topic, notification_id);

-- One row for each commit: who wrote it, and what its writer was answered.
CREATE TABLE log.commits (
    command_id     text        PRIMARY KEY,
    first_position bigint      NOT NULL,
    last_position  bigint      NOT NULL,
    recorded_at    timestamptz NOT NULL,
    digest         bytea,
    answer         bytea
);

-- A moment is turned into a position here.
CREATE INDEX commits_recorded_at ON log.commits (recorded_at, last_position);

-- Held by whoever appends. A table of its own, because the lock on log.events would fight with vacuum.
CREATE TABLE log.writer ();

CREATE TABLE log.leases (
    name        text        PRIMARY KEY,
    epoch       bigint      NOT NULL,
    holder      text        NOT NULL,
    acquired_at timestamptz NOT NULL
);

CREATE SEQUENCE log.job_ids        AS integer;
CREATE SEQUENCE log.recipe_set_ids AS integer;
CREATE SEQUENCE log.recipe_ids     AS integer;
CREATE SEQUENCE log.task_ids       AS integer;

CREATE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the log is append-only: % on log.% is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log.events
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log.commits
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

-- Append many requests in one statement. Each request stands or falls alone and whole; requests of one call
-- must not share a subject or a command id. Arrays that belong together have the same length; events name
-- their request by its number (from 1) and come in request order.
--
-- outcome: done      its events are in the log;
--          known     a commit with this command id is in the log already, nothing was written again;
--          fenced    its lease has another epoch now;
--          conflict  a subject is not at the version it expected.
CREATE FUNCTION log.append(
    command_ids      text[],
    lease_names      text[],
    lease_epochs     bigint[],
    digests          bytea[],
    answers          bytea[],
    expect_requests  integer[],
    expect_subjects  text[],
    expect_versions  bigint[],
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
    answer         bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
DECLARE
    outcomes text[];
    base     bigint;
    moment   timestamptz;
    newest   bigint;
BEGIN
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
            (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
        SELECT k.subject, k.version, k.topic, k.state, k.position, n.last_position, moment
        FROM kept k JOIN ends n USING (request) ORDER BY k.position
    )
    INSERT INTO log.commits (command_id, first_position, last_position, recorded_at, digest, answer)
    SELECT command_ids[n.request], n.first_position, n.last_position, moment,
           digests[n.request], answers[n.request]
    FROM ends n;

    SELECT max(c.last_position) INTO newest FROM log.commits c
    WHERE c.command_id = ANY (command_ids) AND c.first_position > base;
    IF newest IS NOT NULL THEN
        PERFORM pg_notify('labledger_log', newest::text);
    END IF;

    RETURN QUERY
    SELECT outcomes[r.request], c.first_position, c.last_position, c.recorded_at, c.digest, c.answer
    FROM unnest(command_ids) WITH ORDINALITY AS r (command_id, request)
    LEFT JOIN log.commits c ON c.command_id = r.command_id AND outcomes[r.request] IN ('done', 'known')
    ORDER BY r.request;
END $$;

-- Become the holder of a lease: every earlier epoch is fenced from here on.
CREATE FUNCTION log.take_lease(lease text, new_holder text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = log, pg_temp AS $$
    INSERT INTO log.leases AS l (name, epoch, holder, acquired_at)
    VALUES (lease, 1, new_holder, clock_timestamp())
    ON CONFLICT (name) DO UPDATE
        SET epoch = l.epoch + 1, holder = excluded.holder, acquired_at = excluded.acquired_at
    RETURNING epoch
$$;

DO $$
BEGIN
    CREATE ROLE labledger_service NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the whole server, and another database of it has made this one
END $$;
GRANT labledger_service TO CURRENT_USER;

REVOKE ALL ON FUNCTION log.append, log.take_lease FROM PUBLIC;
GRANT USAGE ON SCHEMA log TO labledger_service;
GRANT SELECT ON log.events, log.commits, log.leases TO labledger_service;
GRANT EXECUTE ON FUNCTION log.append, log.take_lease TO labledger_service;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA log TO labledger_service;
