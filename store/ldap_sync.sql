-- The lease to sync with LDAP, and the result of the last sync (`live.ldap_sync`).

-- name: acquire_ldap_sync
-- Take the lease if a sync is due or asked for, unless another sync has it. The holder is a sync.
UPDATE live.ldap_sync SET holder = %(holder)s, held_until = now() + make_interval(secs => %(seconds)s)
WHERE held_until <= now() AND (%(is_asked)s OR due_at <= now())
RETURNING holder

-- name: is_ldap_sync_held
SELECT holder = %(holder)s AND held_until > now() FROM live.ldap_sync

-- name: release_ldap_sync
UPDATE live.ldap_sync SET held_until = '-infinity', finished_at = now(), fault = %(fault)s,
    due_at = now() + make_interval(secs => %(next_seconds)s),
    succeeded_at = CASE WHEN %(fault)s::text IS NULL THEN now() ELSE succeeded_at END,
    counts = CASE WHEN %(fault)s::text IS NULL THEN %(counts)s::jsonb ELSE counts END
WHERE holder = %(holder)s
RETURNING holder

-- name: users_with_secrets
SELECT user_name FROM secret.passwords WHERE user_name = ANY (%(users)s::text[])
UNION SELECT user_name FROM secret.webhooks WHERE user_name = ANY (%(users)s::text[])
ORDER BY user_name

-- name: last_sync
SELECT held_until > now(), finished_at, succeeded_at, fault, counts,
    extract(epoch FROM now() - succeeded_at)::float8
FROM live.ldap_sync
