-- Whether the disk has room for more than a handful of events. Only writing tells: a table of some 700 kB is made
-- and gone again. To be asked by who was refused for want of room, not as a matter of course.
CREATE FUNCTION live.has_room() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT generate_series(1, 20000) AS filling;
    RETURN true;
EXCEPTION WHEN disk_full THEN
    RETURN false;
END $$;

REVOKE ALL ON FUNCTION live.has_room FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live.has_room TO labledger_service;
