-- What the read models say of what was there before has changed: the idle pool leaves out systems of disabled labs,
-- pools have a version for each system that comes or goes. They are built anew from the log.

DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'read' AND tablename <> 'progress' LOOP
        EXECUTE format('TRUNCATE read.%I', name);
    END LOOP;
END $$;

UPDATE read.progress SET position = 0, recorded_at = NULL;
