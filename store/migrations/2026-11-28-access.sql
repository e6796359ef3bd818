-- Access policies of systems, which policy counts, and loans. No event that is in the log already tells of one.

ALTER TABLE read.systems
    ADD COLUMN loaned_to     text,
    ADD COLUMN loaned_until  timestamptz,
    ADD COLUMN access_policy jsonb,
    ADD COLUMN active_pool   text;

ALTER TABLE read.systems ALTER COLUMN access_policy SET STATISTICS 0;
