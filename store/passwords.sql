-- name: store
SELECT secret.keep_password(%s, %s, %s)

-- name: hash_of
SELECT hash FROM secret.passwords WHERE password_id = %s AND user_name = %s

-- name: delete_stale
SELECT secret.forget_passwords(%s)
