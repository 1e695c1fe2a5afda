"""The window: stands between a chat and its model, and remembers what no longer fits."""

from vicw_client.window.async_window import AsyncWindow
from vicw_client.window.delivery import FailedTurn
from vicw_client.window.options import WindowOptions
from vicw_client.window.sync_window import Window
from vicw_client.window.tokens import Message, estimate_tokens
from vicw_client.window.turns import Turn

__all__ = ["AsyncWindow", "FailedTurn", "Message", "Turn", "Window", "WindowOptions", "estimate_tokens"]
