-- Lists of maintenance windows without a scan of all that ever existed: those that have not ended, also as of a past
-- moment, those of a system, and the newest ones.

-- The end of a window that nobody ends, or -infinity for one that somebody has ended. Immutable, because the times have a
-- zone.
CREATE FUNCTION live.window_end(document jsonb) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN document ? 'ended_at' THEN '-infinity' ELSE (document ->> 'ends_at')::timestamptz END
$$;

-- The systems that a window lists, or the first of the properties of its systems.
CREATE FUNCTION live.window_terms(document jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_typeof(document -> 'systems') = 'array'
                THEN ARRAY (SELECT 'system ' || jsonb_array_elements_text(document -> 'systems'))
                WHEN document ->> 'pool' IS NOT NULL THEN ARRAY['pool ' || (document ->> 'pool')]
                WHEN document ->> 'lab_controller' IS NOT NULL THEN ARRAY['lab ' || (document ->> 'lab_controller')]
                ELSE ARRAY['location ' || (document ->> 'location')] END
$$;

-- A version of a window is in force until its end, or until the next version. The clock of a service may be behind that of
-- the database.
CREATE INDEX documents_window_spans ON read.documents
    USING gist (tstzrange(since, greatest(since, least(until, live.window_end(document))), '[]'))
    WHERE kind = 'maintenance-window';
-- Nothing changes what a window covers.
CREATE INDEX documents_window_terms ON read.documents USING gin (live.window_terms(document))
    WHERE kind = 'maintenance-window' AND version = 1;
CREATE INDEX documents_windows_added ON read.documents (since_position)
    WHERE kind = 'maintenance-window' AND version = 1;
