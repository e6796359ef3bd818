-- The last version of a subject up to a position, 0 if there is none. Versions have no gaps and ascend with
-- positions: halving finds it in a few looks at the primary key, however long the history.
CREATE FUNCTION log.version_at(subject text, upto bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = log, pg_temp AS $$
DECLARE
    low    bigint := 0;
    high   bigint;
    newest bigint;
    middle bigint;
BEGIN
    SELECT e.originator_version, e.notification_id INTO high, newest
    FROM log.events e WHERE e.originator_id = subject ORDER BY e.originator_version DESC LIMIT 1;
    IF newest <= upto THEN
        RETURN high;
    END IF;
    high := coalesce(high, 0);
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT e.notification_id FROM log.events e
            WHERE e.originator_id = subject AND e.originator_version = middle) <= upto THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;

REVOKE ALL ON FUNCTION log.version_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.version_at TO labledger_service;
