"""WhatsApp's "Export chat": the text of both phones, alone or in its .zip. Checked for exports of 2.26 (Android, iOS)."""
