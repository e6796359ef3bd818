-- How many people have chosen mail while the active notifier has no mail server: only the notifier has this setting, and
-- the checks of the service show it.

ALTER TABLE live.notifier ADD COLUMN people_without_mail integer NOT NULL DEFAULT 0;
