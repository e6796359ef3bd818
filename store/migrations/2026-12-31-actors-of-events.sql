-- The actors of the events in each part of the log, so that a page of the events of one actor reads no other parts. The
-- log itself has no index of actors, because it would slow down each append.

-- An actor has events with positions from part * 1024 to part * 1024 + 1023; `since_position` is the first of them.
CREATE TABLE read.actor_parts (
    actor          text   NOT NULL,
    part           bigint NOT NULL,
    since_position bigint NOT NULL,
    PRIMARY KEY (actor, part)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON read.actor_parts TO labledger_service;

-- No projector may write between this and its first page with actors.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
INSERT INTO read.actor_parts (actor, part, since_position)
SELECT convert_from(e.state, 'UTF8')::json ->> 'actor', e.notification_id / 1024, min(e.notification_id)
FROM log.events e JOIN read.progress p ON p.name = 'all' AND e.notification_id <= p.position
GROUP BY 1, 2;
