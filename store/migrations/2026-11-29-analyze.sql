-- What the planner knows of the read models. PostgreSQL looks for itself once a minute, if it is left to; within the
-- first minute of a service whole labs are registered, and until then hardly any row is believed to be open.
CREATE FUNCTION live.analyze_read_models() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'read' ORDER BY tablename LOOP
        EXECUTE format('ANALYZE read.%I', name);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION live.analyze_read_models FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live.analyze_read_models TO labledger_service;
