-- Pools and lab controllers from before these fields have their defaults, as `replay rebuild` writes them from now on:
-- an answer has each field of its schema.

UPDATE read.documents SET document = '{"description": ""}'::jsonb || document WHERE kind = 'pool';
UPDATE read.documents SET document = '{"silent": false, "broken_after": 2}'::jsonb || document
WHERE kind = 'lab-controller';
