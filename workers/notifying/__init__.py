"""The notifier process: it follows the log, and sends messages by mail and to webhooks."""
