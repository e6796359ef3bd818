-- name: keep
INSERT INTO secret.passwords (password_id, user_name, hash) VALUES (%s, %s, %s)
ON CONFLICT (password_id) DO NOTHING RETURNING password_id

-- name: hash_of
SELECT hash FROM secret.passwords WHERE password_id = %s

-- name: forget
-- What counted before, and what somebody kept and never made count: a password that is about to count is young.
DELETE FROM secret.passwords
WHERE user_name = %(user)s AND password_id IS DISTINCT FROM %(counts)s
  AND (password_id = %(before)s OR made_at < clock_timestamp() - interval '1 hour')
RETURNING password_id
