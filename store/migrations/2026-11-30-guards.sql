-- What the service role cannot do to the log, to the records of reads and to passwords.

-- Every topic that the code of a version appends or reads. `migrate` adds those of the new version, as the owner; none
-- is ever removed. A reader stops at an unknown topic, so none gets into the log.
CREATE TABLE log.topics (topic text PRIMARY KEY);
GRANT SELECT ON log.topics TO labledger_service;

CREATE FUNCTION log.require_known_topics() RETURNS trigger
LANGUAGE plpgsql SET search_path = log, pg_temp AS $$
DECLARE
    unknown text;
BEGIN
    SELECT string_agg(DISTINCT a.topic, ', ') INTO unknown
    FROM appended a WHERE NOT EXISTS (SELECT FROM topics t WHERE t.topic = a.topic);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'no migration has registered the topic %', unknown USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER known_topics AFTER INSERT ON log.events REFERENCING NEW TABLE AS appended
    FOR EACH STATEMENT EXECUTE FUNCTION log.require_known_topics();

-- An append waits its turn for this long at most.
ALTER FUNCTION log.append SET lock_timeout = '10s';
ALTER FUNCTION log.take_lease SET lock_timeout = '10s';

-- Return whether an append could not begin within four seconds. The lock goes with the block that fails: no caller
-- keeps it.
CREATE FUNCTION log.append_hangs() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp SET lock_timeout = '4s' AS $$
BEGIN
    -- A standby takes no appends.
    IF pg_is_in_recovery() THEN
        RETURN false;
    END IF;
    LOCK TABLE log.writer IN EXCLUSIVE MODE;
    RAISE EXCEPTION 'an append can begin';
EXCEPTION
    WHEN lock_not_available THEN
        RETURN true;
    WHEN raise_exception THEN
        RETURN false;
END $$;

-- End the sessions of this login that have held up appends for 30 s, and return how many there were.
CREATE FUNCTION live.end_hung_writers() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held  oid[] := ARRAY['log.writer'::regclass, 'log.leases'::regclass];
    ended bigint;
BEGIN
    SET LOCAL ROLE NONE;
    SELECT count(pg_terminate_backend(hung.pid)) INTO ended FROM (
        SELECT DISTINCT a.pid
        FROM pg_locks k JOIN pg_stat_activity a ON a.pid = k.pid
        WHERE k.relation = ANY (held) AND k.granted AND k.mode <> 'AccessShareLock'
          AND a.usename = session_user AND a.xact_start < clock_timestamp() - interval '30 s'
    ) AS hung;
    RETURN ended;
END $$;

-- End the session that holds the lock of a lease which nobody has renewed as promised; return its holder, or null.
-- A session that has the lock without a row of its own is ended after three times as long: the row of a new holder is
-- written a moment after it has taken the lock. No promise is longer than an hour, and none is of the future.
CREATE OR REPLACE FUNCTION live.end_hung_holder(lease text) RETURNS text
LANGUAGE plpgsql SET search_path = live, pg_temp AS $$
DECLARE
    hung    leases%ROWTYPE;
    session integer := live.lease_session(lease);
BEGIN
    -- One that is renewed or looked after at this moment is locked.
    SELECT l.* INTO hung FROM leases l
    WHERE l.name = lease AND session IS NOT NULL
      AND (l.renewed_at > clock_timestamp() + interval '1 minute'
           OR clock_timestamp() - l.renewed_at > make_interval(
               secs => least(l.lease_seconds, 3600) * CASE WHEN l.pid = session THEN 1 ELSE 3 END))
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SET LOCAL ROLE NONE;
    PERFORM pg_terminate_backend(session, 2000);
    RETURN CASE WHEN hung.pid = session THEN hung.holder ELSE format('session %s', session) END;
END $$;

-- Reads are numbered and dated by the database alone.
REVOKE INSERT ON log.reads FROM labledger_service;
GRANT INSERT (user_name, role, token_id, method, path, query, request_id, is_stream, last_event_id)
    ON log.reads TO labledger_service;

-- Keep the hash of a password under an id that nobody has used. Which id counts is in the log.
CREATE FUNCTION secret.keep_password(new_id text, of_user text, new_hash text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = secret, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM log.events e
        WHERE e.originator_id = 'user/' || of_user AND e.topic = 'user.password-set'
          AND convert_from(e.state, 'UTF8')::jsonb -> 'data' ->> 'password_id' = new_id
    ) THEN
        RAISE EXCEPTION 'the password % counts already, or did', new_id USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO passwords (password_id, user_name, hash) VALUES (new_id, of_user, new_hash)
    ON CONFLICT (password_id) DO NOTHING;
END $$;

-- Delete the hashes of a user that count no more, and those that were kept an hour ago and never counted: one that is
-- about to count is young.
CREATE FUNCTION secret.forget_passwords(of_user text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = secret, pg_temp AS $$
    WITH set_or_removed AS (
        SELECT e.originator_version AS version,
               CASE WHEN e.topic = 'user.password-set'
                    THEN convert_from(e.state, 'UTF8')::jsonb -> 'data' ->> 'password_id' END AS id
        FROM log.events e
        WHERE e.originator_id = 'user/' || of_user AND e.topic IN ('user.password-set', 'user.removed')
    ), counting AS (
        SELECT s.id FROM set_or_removed s ORDER BY s.version DESC LIMIT 1
    )
    DELETE FROM passwords p
    WHERE p.user_name = of_user
      AND p.password_id IS DISTINCT FROM (SELECT c.id FROM counting c)
      AND (p.password_id IN (SELECT s.id FROM set_or_removed s)
           OR p.made_at < clock_timestamp() - interval '1 hour')
$$;

REVOKE INSERT, DELETE ON secret.passwords FROM labledger_service;
REVOKE ALL ON FUNCTION log.append_hangs, live.end_hung_writers, secret.keep_password, secret.forget_passwords,
    log.require_known_topics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.append_hangs, live.end_hung_writers, secret.keep_password, secret.forget_passwords
    TO labledger_service;
