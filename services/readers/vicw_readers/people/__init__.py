"""Readers of people's chats: a message is an item, a chat or a thread is a flow."""
