-- The part of every run of `migrate` that is not in a dump of one database.

-- name: register_topics
INSERT INTO log.topics (topic) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING

-- name: close_database
-- Allow connections of the owner, of members of the service role and of the boards only. This needs the owner of the
-- database.
DO $$
DECLARE
    name   text := current_database();
    member regrole;
BEGIN
    IF NOT (SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = name) THEN
        RETURN;
    END IF;
    IF has_database_privilege('public', name, 'CONNECT') OR has_database_privilege('public', name, 'TEMPORARY') THEN
        EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', name);
        EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO labledger_service', name);
    END IF;
    -- A login that does not inherit needs the privilege itself.
    FOR member IN
        SELECT m.member FROM pg_auth_members m WHERE m.roleid = 'labledger_service'::regrole
        UNION SELECT to_regrole('labledger_boards') WHERE to_regrole('labledger_boards') IS NOT NULL
    LOOP
        IF NOT has_database_privilege(member, name, 'CONNECT') THEN
            EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', name, member);
        END IF;
    END LOOP;
END $$
