"""Messages of MCP between lines and HTTP requests, without the SDK: it takes a second to import."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose target stands in the header ``Mcp-Name``, too, and its parameter."""
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_NOT_READ, _FAILED = -32700, -32000

type JsonMessage = dict[str, Any]


class Era:
    """What a client's handshake has agreed on; clients without one say it with each message."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._client = ""

    def headers(self, message: JsonMessage) -> dict[str, str]:
        """Return the headers of a request that carries ``message``."""
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if message["method"] == "initialize":
            info = params.get("clientInfo")
            self._client = str(info.get("name", "")) if isinstance(info, dict) else ""
            return {}
        meta = params.get("_meta")
        version = meta.get(_VERSION) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            handshake = {"MCP-Protocol-Version": self._version and _header(self._version)}
            handshake["VICW-Client"] = quote(self._client, errors="replace")
            return {name: value for name, value in handshake.items() if value}
        headers = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
        target = params.get(_NAMED.get(message["method"], ""))
        if isinstance(target, str):
            headers["Mcp-Name"] = target
        return {name: _header(value) for name, value in headers.items()}

    def answered(self, message: JsonMessage, answer: JsonMessage) -> None:
        """Note the version that the answer to a handshake names."""
        result = answer.get("result")
        if message["method"] == "initialize" and isinstance(result, dict):
            self._version = str(result.get("protocolVersion"))


def _header(value: str) -> str:
    if _PLAIN.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="


def read_message(line: bytes) -> JsonMessage:
    """Return the message of a line. Raises ValueError for what is none."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not one message")
    return message


def is_request(message: Mapping[str, Any]) -> bool:
    """Return whether a message wants an answer."""
    return isinstance(message.get("method"), str) and message.get("id") is not None


def refusal(message: Mapping[str, Any] | None, detail: str) -> JsonMessage:
    """Return the answer to a request that failed; None: to a line that is no message."""
    code = _NOT_READ if message is None else _FAILED
    return {"jsonrpc": "2.0", "id": message.get("id") if message else None, "error": {"code": code, "message": detail}}


def answer_of(message: JsonMessage, body: bytes, status: int) -> JsonMessage:
    """Return the answer in the body of an HTTP response: a message, or a problem document, as a refusal."""
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        return refusal(message, f"The server answered with HTTP status {status} and no message")
    if "jsonrpc" in content:
        return content | {"id": message["id"]}
    return refusal(message, str(content.get("detail") or content.get("title") or f"HTTP status {status}"))
