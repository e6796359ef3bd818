-- What runs on a system that does not have the system in the log. No system is occupied before this migration.
ALTER TABLE read.systems ADD COLUMN occupied jsonb;

CREATE INDEX systems_occupied ON read.systems (fqdn)
    WHERE occupied IS NOT NULL;
