"""Secrets recognised by their format, as published by their issuers.

A body is matched after its head. Its repetitions are possessive or bounded, and a head counts only at the start of a
run of token characters, so that time is linear in the length of any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vicw_core.secrets.value_classifier import is_placeholder, is_random

type Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Format:
    """Secrets that begin with one of ``heads`` (separated by spaces) and continue as the pattern ``body``.

    ``context``: the head precedes the secret and is not part of it. ``doubtful``: other strings start the same way,
    so the body has to look random.
    """

    kind: str
    heads: str
    body: str
    context: bool = False
    doubtful: bool = False


_WORD, _URL = r"[A-Za-z0-9]", r"[\w-]"
_HEX = r"[0-9a-fA-F]"
FORMATS = (
    Format("aws-access-key", "AKIA ASIA", r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Format("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_WORD}{{36,}}+"),
    Format("github-token", "github_pat_", r"\w{60,}+"),
    Format(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- gloas- glagent-",
        rf"{_URL}{{20,}}+(?:\.\w{{2,12}}){{0,2}}",
    ),
    Format(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxe- xapp-",
        r"(?=[A-Za-z%-]{0,12}\d)[A-Za-z0-9%+/-]{16,1000}+",
    ),
    Format("slack-webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/", r"[A-Z0-9]{8,20}/[\w/-]{20,200}+"),
    Format(
        "discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", rf"\d{{15,22}}/{_URL}{{50,200}}+"
    ),
    Format("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", rf"{_WORD}{{16,}}+"),
    Format("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24,100}+"),
    Format("google-api-key", "AIza", rf"{_URL}{{35}}(?![A-Za-z0-9_])"),
    Format("google-oauth-secret", "GOCSPX-", rf"{_URL}{{28}}"),
    Format("google-oauth-token", "ya29.", rf"{_URL}{{30,}}+"),
    Format("anthropic-key", "sk-ant-", rf"{_URL}{{30,}}+"),
    Format("openai-key", "sk-proj- sk-svcacct- sk-admin-", rf"{_URL}{{20,}}+"),
    Format("openrouter-key", "sk-or-v1-", rf"{_HEX}{{40,}}+"),
    Format("openai-key", "sk-", rf"(?!ant-|or-v1-){_URL}{{20,}}+", doubtful=True),
    Format("groq-key", "gsk_", rf"{_WORD}{{40,}}+"),
    Format("xai-key", "xai-", rf"{_WORD}{{60,}}+"),
    Format("perplexity-key", "pplx-", rf"{_WORD}{{40,}}+"),
    Format("replicate-token", "r8_", rf"{_WORD}{{37}}(?!\w)"),
    Format("nvidia-key", "nvapi-", rf"{_URL}{{60,}}+"),
    Format("huggingface-token", "hf_", r"[A-Za-z]{34}(?!\w)"),
    Format("npm-token", "npm_", rf"{_WORD}{{36}}(?!\w)"),
    Format("pypi-token", "pypi-AgE", rf"{_URL}{{50,}}+"),
    Format("rubygems-key", "rubygems_", r"[0-9a-f]{48}(?!\w)"),
    Format("docker-token", "dckr_pat_ dckr_oat_", rf"{_URL}{{20,}}+"),
    Format("azure-key", "AccountKey= SharedAccessKey=", r"[A-Za-z0-9+/]{42,86}={1,2}", context=True),
    Format("twilio-key", "SK", r"[0-9a-f]{32}(?!\w)"),
    Format("sendgrid-key", "SG.", rf"{_URL}{{16,32}}+\.{_URL}{{32,64}}"),
    Format("databricks-token", "dapi", r"[0-9a-f]{32}(?!\w)"),
    Format("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}(?!\w)"),
    Format("heroku-key", "HRKU-", rf"{_URL}{{36,}}+"),
    Format("shopify-token", "shpat_ shpca_ shppa_ shpss_", rf"{_HEX}{{32}}(?!\w)"),
    Format("square-token", "sq0atp- sq0csp-", rf"{_URL}{{22,}}+"),
    Format("linear-key", "lin_api_", rf"{_WORD}{{40}}(?!\w)"),
    Format("notion-token", "ntn_", rf"{_WORD}{{40,}}+"),
    Format("figma-token", "figd_", rf"{_URL}{{36,}}+"),
    Format("grafana-token", "glsa_", rf"{_WORD}{{32}}_[0-9a-fA-F]{{8}}"),
    Format("atlassian-token", "ATATT3", r"[\w=-]{100,400}+"),
    Format("new-relic-key", "NRAK-", r"[A-Z0-9]{27}(?!\w)"),
    Format("sentry-token", "sntryu_ sntrys_", r"[A-Za-z0-9+/=_]{40,400}+"),
    Format("terraform-token", ".atlasv1.", rf"{_URL}{{50,}}+"),
    Format("vault-token", "hvs. hvb. hvr.", rf"{_URL}{{24,}}+"),
    Format("pulumi-token", "pul-", r"[0-9a-f]{40}(?!\w)"),
    Format("supabase-key", "sbp_", r"[0-9a-f]{40}(?!\w)"),
    Format("supabase-key", "sb_secret_", rf"{_URL}{{20,}}+"),
    Format("tailscale-key", "tskey-auth- tskey-api- tskey-client-", rf"{_URL}{{20,}}+"),
    Format("telegram-token", ":AA", rf"(?<=\d{{8}}:AA){_URL}{{33}}(?![\w-])", context=True),
    Format("json-web-token", "eyJ", rf"{_URL}{{13,}}+\.eyJ{_URL}{{8,}}+\.{_URL}{{16,}}+"),
    Format("private-key", "AGE-SECRET-KEY-", r"1[A-Z0-9]{58}(?!\w)"),
)
_SEPARATORS = ".:/"


class FormatSeeker:
    """Seeker of secrets of one format at the positions of one of its heads."""

    def __init__(self, form: Format, head: str) -> None:
        self._form = form
        self._head = head
        self._body = re.compile(form.body, re.ASCII)
        self._needs_no_boundary = head[0] in _SEPARATORS or form.context

    def __call__(self, text: str, at: int) -> Iterator[Span]:
        """Yield the secret whose head begins at ``at``, if there is one that is not a placeholder."""
        if not (self._needs_no_boundary or _begins(text, at)):
            return
        start = at + len(self._head)
        match = self._body.match(text, start)
        if match is None or is_placeholder(match[0]) or (self._form.doubtful and not is_random(match[0])):
            return
        yield start if self._form.context else at, match.end(), self._form.kind


def _begins(text: str, at: int) -> bool:
    """Return whether a run of token characters begins at ``at``. A line break before it is ``\\n`` in JSON."""
    before = text[at - 1 : at]
    return not (before.isalnum() or before in {"_", "-"}) or text[max(0, at - 2) : at] in {"\\n", "\\r", "\\t"}
