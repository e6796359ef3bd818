-- name: settings_after
SELECT system, type, address, port, user_name, secret FROM secret.power_settings
WHERE system > %s AND system <> ALL (%s) ORDER BY system LIMIT %s

-- name: settings_of
SELECT system, type, address, port, user_name, secret FROM secret.power_settings WHERE system = ANY (%s)
