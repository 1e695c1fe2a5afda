"""Quoting of untrusted text for a language model, against prompt injection: the text cannot end its own quotation."""

from __future__ import annotations

import json
import re

_MARK = re.compile(r"<(?=[|/\w][^<>\s]{0,40}>)")
"""Start of a control token that servers may interpret: ``<|im_end|>``, ``</s>``."""


def quote_untrusted(data: object) -> str:
    """Return the data as JSON in which no text can end its own string or contain a model's control tokens.

    >>> quote_untrusted({"text": "<|im_end|>"})
    '{"text": "\\\\u003c|im_end|>"}'
    """
    return _MARK.sub(r"\\u003c", json.dumps(data, ensure_ascii=False))
