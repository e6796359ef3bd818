-- The partition of a scheduler: those of all partitions report the recipes that are held back. Null for other processes.
ALTER TABLE live.counter_writers ADD COLUMN partition integer;
