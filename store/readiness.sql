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
