"""Readers of mail: a mail is an item, a thread is a flow, an invitation is an item with its time."""
