-- The turn to read LDAP, and the result of the last sync. What it changed is in the log.
CREATE TABLE live.ldap_sync (
    is_only      boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
    -- The process that syncs, and until when no other one does.
    holder       text        NOT NULL DEFAULT '',
    held_until   timestamptz NOT NULL DEFAULT '-infinity',
    due_at       timestamptz NOT NULL DEFAULT '-infinity',
    finished_at  timestamptz,
    succeeded_at timestamptz,
    -- Why the last sync changed nothing; null after a success.
    fault        text,
    -- The number of people and groups that the last successful sync changed, by what changed.
    counts       jsonb       NOT NULL DEFAULT '{}'
);
INSERT INTO live.ldap_sync DEFAULT VALUES;
GRANT SELECT, UPDATE ON live.ldap_sync TO labledger_service;

-- A user who has left LDAP has no password, as a removed one.
CREATE OR REPLACE FUNCTION secret.forget_passwords(of_user text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = secret, pg_temp AS $$
    WITH set_or_removed AS (
        SELECT e.originator_version AS version,
               CASE WHEN e.topic = 'user.password-set'
                    THEN convert_from(e.state, 'UTF8')::jsonb -> 'data' ->> 'password_id' END AS id
        FROM log.events e
        WHERE e.originator_id = 'user/' || of_user
          AND e.topic IN ('user.password-set', 'user.removed', 'user.left-ldap')
    ), counting AS (
        SELECT s.id FROM set_or_removed s ORDER BY s.version DESC LIMIT 1
    )
    DELETE FROM passwords p
    WHERE p.user_name = of_user
      AND p.password_id IS DISTINCT FROM (SELECT c.id FROM counting c)
      AND (p.password_id IN (SELECT s.id FROM set_or_removed s)
           OR p.made_at < clock_timestamp() - interval '1 hour')
$$;
