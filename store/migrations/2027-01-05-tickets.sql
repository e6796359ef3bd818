-- The tickets of systems that are not Automated. No system has one before this migration.
ALTER TABLE read.systems ADD COLUMN ticket text;
