-- The numbers of recipes that the rows of admission hold back, as the scheduler with the lease last reported them.

ALTER TABLE live.counter_writers ADD COLUMN held_back jsonb NOT NULL DEFAULT '{}';
