-- name: settings_of
SELECT type, address, port, user_name, secret FROM secret.power_settings WHERE system = %s
