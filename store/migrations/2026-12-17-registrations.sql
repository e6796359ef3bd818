-- The present registration of each lab controller: what its parts have named so far. Present state that is no history; what
-- follows from a registration is on the log. A new instance of the lab controller begins a new registration.
CREATE TABLE live.registrations (
    lab_controller text PRIMARY KEY,
    instance       text NOT NULL
);
-- The systems that are named, each with a digest of the part that named it first.
CREATE TABLE live.registered_systems (
    lab_controller text  NOT NULL REFERENCES live.registrations ON DELETE CASCADE,
    fqdn           text  NOT NULL,
    part           bytea NOT NULL,
    PRIMARY KEY (lab_controller, fqdn)
);
-- What runs on systems; the recipe is 0 for something that has no name.
CREATE TABLE live.registered_running (
    lab_controller text    NOT NULL REFERENCES live.registrations ON DELETE CASCADE,
    fqdn           text    NOT NULL,
    recipe_id      integer NOT NULL,
    PRIMARY KEY (lab_controller, fqdn, recipe_id)
);

-- Note a part; return the systems that another part has named before. The row of the lab controller is locked first, so that
-- parts are noted one after another.
CREATE FUNCTION live.note_registration(
    lab text, new_instance text, new_part bytea, systems text[], running text[], recipe_ids integer[]
) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = live, pg_temp AS $$
BEGIN
    INSERT INTO registrations AS r VALUES (lab, new_instance)
    ON CONFLICT (lab_controller) DO UPDATE SET instance = r.instance;
    IF (SELECT instance FROM registrations WHERE lab_controller = lab) <> new_instance THEN
        DELETE FROM registered_systems WHERE lab_controller = lab;
        DELETE FROM registered_running WHERE lab_controller = lab;
        UPDATE registrations SET instance = new_instance WHERE lab_controller = lab;
    END IF;
    INSERT INTO registered_systems SELECT lab, unnest(systems), new_part ON CONFLICT DO NOTHING;
    INSERT INTO registered_running SELECT lab, unnest(running), unnest(recipe_ids) ON CONFLICT DO NOTHING;
    RETURN QUERY SELECT n.fqdn FROM registered_systems n
        WHERE n.lab_controller = lab AND n.fqdn = ANY (systems) AND n.part <> new_part;
END $$;

REVOKE ALL ON FUNCTION live.note_registration FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live.note_registration TO labledger_service;
GRANT SELECT ON live.registrations, live.registered_running TO labledger_service;
