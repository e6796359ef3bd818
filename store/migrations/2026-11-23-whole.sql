-- Up to where the read models have to be for what they say to be the whole of it: where the log stood when they were
-- begun. One that stands before the end here may be half built or a little late. Nobody can tell the two apart, and
-- the second is over in a moment.

ALTER TABLE read.progress ADD COLUMN whole_from bigint NOT NULL DEFAULT 0;
UPDATE read.progress SET whole_from = (SELECT coalesce(max(notification_id), 0) FROM log.events);
