"""Slack's export: the .zip or its unpacked folder, a file for each channel and day. Checked against exports of 2025."""
