-- Starts of a lab controller that a later one has replaced, so that a late message of theirs begins no new registration.
-- They are kept for 30 days, far longer than a message can be late.
CREATE TABLE live.replaced_registrations (
    lab_controller text        NOT NULL,
    instance       text        NOT NULL,
    replaced_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (lab_controller, instance)
);

-- Note a part; return the systems that another part has named before. For an instance that was replaced nothing is noted, and
-- `replaced_by` is the present one. The row of the lab controller is locked first, so that parts are noted one after another.
DROP FUNCTION live.note_registration;
CREATE FUNCTION live.note_registration(
    lab text, new_instance text, new_part bytea, systems text[], running text[], recipe_ids integer[],
    OUT replaced_by text, OUT named_twice text[]
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = live, pg_temp AS $$
DECLARE
    present text;
BEGIN
    INSERT INTO registrations AS r VALUES (lab, new_instance)
    ON CONFLICT (lab_controller) DO UPDATE SET instance = r.instance RETURNING r.instance INTO present;
    IF EXISTS (
        SELECT FROM replaced_registrations p WHERE p.lab_controller = lab AND p.instance = new_instance
    ) THEN
        replaced_by := present;
        RETURN;
    END IF;
    IF present <> new_instance THEN
        INSERT INTO replaced_registrations VALUES (lab, present);
        DELETE FROM replaced_registrations
        WHERE lab_controller = lab AND replaced_at < clock_timestamp() - interval '30 days';
        DELETE FROM registered_systems WHERE lab_controller = lab;
        DELETE FROM registered_running WHERE lab_controller = lab;
        UPDATE registrations SET instance = new_instance WHERE lab_controller = lab;
    END IF;
    INSERT INTO registered_systems SELECT lab, unnest(systems), new_part ON CONFLICT DO NOTHING;
    INSERT INTO registered_running SELECT lab, unnest(running), unnest(recipe_ids) ON CONFLICT DO NOTHING;
    named_twice := ARRAY(
        SELECT n.fqdn FROM registered_systems n
        WHERE n.lab_controller = lab AND n.fqdn = ANY (systems) AND n.part <> new_part
    );
END $$;

REVOKE ALL ON FUNCTION live.note_registration FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live.note_registration TO labledger_service;
