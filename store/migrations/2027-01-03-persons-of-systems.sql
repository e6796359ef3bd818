-- The persons who have reserved or borrowed a system, by the changes of these alone: the rows of `systems` also change with
-- the inventory. A position is that of the event that began the reservation or the loan.
CREATE TABLE read.system_persons (
    fqdn              text        NOT NULL,
    reserved_by       text,
    reserved_position bigint,
    loaned_to         text,
    loaned_position   bigint,
    since_position    bigint      NOT NULL,
    since             timestamptz NOT NULL,
    until_position    bigint      NOT NULL DEFAULT 9223372036854775807,
    until             timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (fqdn, since_position)
);
CREATE UNIQUE INDEX system_persons_open ON read.system_persons (fqdn) WHERE until_position = 9223372036854775807;
GRANT SELECT, INSERT, UPDATE, DELETE ON read.system_persons TO labledger_service;

-- No projector may write between this and the first page that is folded into the new table.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
INSERT INTO read.system_persons
WITH marked AS (
    SELECT fqdn, reserved_by, loaned_to, since_position, since, row_number() OVER history = 1 AS is_first,
           reserved_by IS DISTINCT FROM lag(reserved_by) OVER history AS reserves,
           loaned_to IS DISTINCT FROM lag(loaned_to) OVER history AS lends
    FROM read.systems WINDOW history AS (PARTITION BY fqdn ORDER BY since_position)
)
SELECT fqdn, reserved_by, CASE WHEN reserved_by IS NOT NULL THEN max(since_position) FILTER (WHERE reserves) OVER history END,
       loaned_to, CASE WHEN loaned_to IS NOT NULL THEN max(since_position) FILTER (WHERE lends) OVER history END,
       since_position, since, lead(since_position, 1, 9223372036854775807) OVER history,
       lead(since, 1, 'infinity') OVER history
FROM marked WHERE is_first OR reserves OR lends
WINDOW history AS (PARTITION BY fqdn ORDER BY since_position);
