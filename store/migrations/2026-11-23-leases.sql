-- Who holds a lease says so again and again while it gets on. A holder that does not (stopped, swapped out, cut off)
-- keeps its session all the same, and with it the advisory lock: whoever waits for the lease ends that session.

CREATE TABLE live.leases (
    name          text             PRIMARY KEY,
    epoch         bigint           NOT NULL,
    holder        text             NOT NULL,
    -- Of the session with the advisory lock.
    pid           integer          NOT NULL,
    renewed_at    timestamptz      NOT NULL,
    -- What the holder has promised: it renews the lease before it is this old.
    lease_seconds double precision NOT NULL
);

-- The session that holds the advisory lock of a lease now, if any.
CREATE FUNCTION live.lease_session(lease text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.pid FROM pg_locks k
    WHERE k.locktype = 'advisory' AND k.granted AND k.objsubid = 2
      AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND k.classid = 19532::oid AND k.objid = (hashtext(lease)::bigint & 4294967295)::oid
$$;

-- Become the holder of a lease that nobody holds; its epoch, or null. In one call: whoever hangs from here on has
-- said when it took the lease.
CREATE FUNCTION live.take_lease(lease text, new_holder text, seconds double precision) RETURNS bigint
LANGUAGE plpgsql SET search_path = live, pg_temp AS $$
DECLARE
    taken bigint;
BEGIN
    IF NOT pg_try_advisory_lock(19532, hashtext(lease)) THEN
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

-- End the session of a holder that has not kept its promise, and of nobody else; who it was, or null. It is done by
-- the right of every login to end sessions of its own, so that nobody needs more: schedulers share one login.
CREATE FUNCTION live.end_hung_holder(lease text) RETURNS text
LANGUAGE plpgsql SET search_path = live, pg_temp AS $$
DECLARE
    hung leases%ROWTYPE;
BEGIN
    -- One that is renewed or looked after at this moment is locked.
    SELECT l.* INTO hung FROM leases l
    WHERE l.name = lease AND l.renewed_at + make_interval(secs => l.lease_seconds) < clock_timestamp()
      AND l.pid = live.lease_session(lease)
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SET LOCAL ROLE NONE;
    PERFORM pg_terminate_backend(hung.pid, 2000);
    RETURN hung.holder;
END $$;

REVOKE ALL ON FUNCTION live.lease_session, live.take_lease, live.end_hung_holder FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE ON live.leases TO labledger_service;
GRANT EXECUTE ON FUNCTION live.lease_session, live.take_lease, live.end_hung_holder TO labledger_service;
