-- name: readiness
-- Whether this server accepts writes, how far the log is ahead of a position, and the holder of each lease, in the order
-- of `leases`. One row a lease; the columns before the holder are equal in all.
SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off' AS writable,
       coalesce((SELECT max(notification_id) FROM log.events), 0) AS log_end,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - e.recorded_at) FROM log.events e
                 WHERE e.notification_id > %(position)s ORDER BY e.notification_id LIMIT 1),
                0)::double precision AS behind_seconds,
       log.append_hangs(), l.holder, extract(epoch FROM clock_timestamp() - l.renewed_at)::double precision AS renewed_seconds_ago,
       l.lease_seconds
FROM unnest(%(leases)s::text[]) WITH ORDINALITY AS asked (lease, place)
LEFT JOIN live.leases l ON l.name = asked.lease AND l.pid = live.lease_session(asked.lease)
ORDER BY asked.place

-- name: notifier
-- Whether a notifier has run in this database, and is active; how far it is behind the log, in events and seconds; the
-- people whose chosen mail it cannot send; the age of the oldest waiting message by channel; and the messages that were
-- given up within a day.
SELECT n.database_id IS NOT NULL, n.held_until > clock_timestamp(),
       greatest((SELECT coalesce(max(notification_id), 0) FROM log.events) - n.position, 0),
       greatest((SELECT extract(epoch FROM clock_timestamp() - e.recorded_at) FROM log.events AS e
                 WHERE e.notification_id > n.position ORDER BY e.notification_id LIMIT 1),
                extract(epoch FROM clock_timestamp() - n.timers_until), 0)::double precision,
       n.people_without_mail,
       coalesce((SELECT jsonb_object_agg(w.channel, w.seconds) FROM (
           SELECT channel, greatest(extract(epoch FROM clock_timestamp() - min(created_at)), 0) AS seconds
           FROM live.notifications WHERE state = 'waiting' GROUP BY channel) AS w), '{}'),
       (SELECT count(*) FROM live.notifications
        WHERE state = 'given-up' AND finished_at > clock_timestamp() - interval '1 day')
FROM live.notifier AS n
