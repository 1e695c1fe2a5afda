"""The client of webhooks: signed requests to addresses that callers name."""
