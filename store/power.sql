-- name: settings_after
SELECT system, type, address, port, user_name, secret FROM secret.power_settings
WHERE system > %s AND system <> ALL (%s) ORDER BY system LIMIT %s

-- name: settings_of
SELECT system, type, address, port, user_name, secret FROM secret.power_settings WHERE system = ANY (%s)

-- name: types_elsewhere
-- Those of the given types that other systems than the given ones have.
SELECT DISTINCT type FROM secret.power_settings WHERE type = ANY (%s) AND system <> ALL (%s)
