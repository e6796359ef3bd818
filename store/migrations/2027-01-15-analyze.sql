-- The statistics of all read models are updated in one transaction. It locks the position of the read models before
-- their rows, as the swap of a rebuild does: with the position in the order of the names, each of the two could have
-- waited for the other.
CREATE OR REPLACE FUNCTION live.analyze_read_models() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tablename FROM pg_tables WHERE schemaname = 'read' ORDER BY tablename <> 'progress', tablename
    LOOP
        EXECUTE format('ANALYZE read.%I', name);
    END LOOP;
END $$;
