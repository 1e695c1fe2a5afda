"""Readers of what people and assistants said to each other: exports of products, and chats as data."""
