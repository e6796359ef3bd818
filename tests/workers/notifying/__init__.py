"""The notifier, with a real mail server and real webhooks."""
