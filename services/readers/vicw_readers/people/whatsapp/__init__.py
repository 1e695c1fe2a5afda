"""WhatsApp's "Export chat": the text of both phones, alone or in its .zip. Checked against exports of 2022 to 2026."""
