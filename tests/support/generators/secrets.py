"""Secrets that open nothing: drawn by lot, and put together here, so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import json
import random
from string import ascii_letters, ascii_uppercase, digits

_LOT = random.Random(7)
_WORD, _BASE64, _URL = ascii_letters + digits, ascii_letters + digits + "+/", ascii_letters + digits + "-_"


def random_characters(count: int, signs: str | None = None) -> str:
    """Return so many signs by lot; without ``signs`` hexadecimal ones."""
    return "".join(_LOT.choice(signs or "0123456789abcdef") for _ in range(count))


def pem(label: str, lines: int = 8) -> str:
    """Return a private key that is none, in its lines."""
    body = "\n".join(random_characters(64, _BASE64) for _ in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n{random_characters(23, _BASE64)}=\n-----END {label}-----"


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part({'sub': '42', 'name': 'Ana'})}.{random_characters(43, _URL)}"
PASSWORD = "Vq8!sTz2mK"
TOKEN = random_characters(32)
AWS_KEY = "AKIA" + random_characters(16, ascii_uppercase)
GITHUB_TOKEN = "ghp_" + random_characters(36, _WORD)

PUBLISHED = {
    "aws-access-key": [AWS_KEY, "ASIA" + random_characters(16, ascii_uppercase + "234567")],
    "github-token": [GITHUB_TOKEN, "github_pat_" + random_characters(22, _WORD) + "_" + random_characters(59, _WORD)],
    "gitlab-token": ["glpat-" + random_characters(20, _URL), "glpat-" + random_characters(27, _WORD) + ".01.1a2b3c4d5"],
    "slack-token": [
        "xoxb-"
        + random_characters(12, digits)
        + "-"
        + random_characters(12, digits)
        + "-"
        + random_characters(24, _WORD)
    ],
    "slack-webhook": [
        "hooks.slack.com/services/T0"
        + random_characters(8, ascii_uppercase)
        + "/B0AAAAAA1/"
        + random_characters(24, _WORD)
    ],
    "discord-webhook": [
        "discord.com/api/webhooks/" + random_characters(18, digits) + "/" + random_characters(68, _URL)
    ],
    "stripe-key": [
        "sk_live_" + random_characters(24, _WORD),
        "rk_test_51" + random_characters(90, _WORD),
        "whsec_" + random_characters(32, _BASE64),
    ],
    "google-api-key": ["AIza" + random_characters(35, _WORD)],
    "google-oauth-secret": ["GOCSPX-" + random_characters(28, _URL)],
    "google-oauth-token": ["ya29." + random_characters(120, _URL)],
    "anthropic-key": ["sk-ant-api03-" + random_characters(95, _URL)],
    "openai-key": [
        "sk-proj-" + random_characters(120, _URL),
        "sk-" + random_characters(48, _WORD),
        "sk-" + random_characters(32),
    ],
    "openrouter-key": ["sk-or-v1-" + random_characters(64)],
    "groq-key": ["gsk_" + random_characters(52, _WORD)],
    "xai-key": ["xai-" + random_characters(80, _WORD)],
    "perplexity-key": ["pplx-" + random_characters(48, _WORD)],
    "replicate-token": ["r8_" + random_characters(37, _WORD)],
    "nvidia-key": ["nvapi-" + random_characters(64, _URL)],
    "huggingface-token": ["hf_" + random_characters(34, ascii_letters)],
    "npm-token": ["npm_" + random_characters(36, _WORD)],
    "pypi-token": ["pypi-AgEIcHlwaS5vcmc" + random_characters(150, _URL)],
    "rubygems-key": ["rubygems_" + random_characters(48)],
    "docker-token": ["dckr_pat_" + random_characters(27, _URL)],
    "twilio-key": ["SK" + random_characters(32)],
    "sendgrid-key": ["SG." + random_characters(22, _URL) + "." + random_characters(43, _URL)],
    "databricks-token": ["dapi" + random_characters(32)],
    "digitalocean-token": ["dop_v1_" + random_characters(64)],
    "heroku-key": ["HRKU-" + random_characters(60, _URL)],
    "shopify-token": ["shpat_" + random_characters(32)],
    "square-token": ["sq0atp-" + random_characters(22, _URL)],
    "linear-key": ["lin_api_" + random_characters(40, _WORD)],
    "notion-token": ["ntn_" + random_characters(46, _WORD)],
    "figma-token": ["figd_" + random_characters(40, _URL)],
    "grafana-token": ["glsa_" + random_characters(32, _WORD) + "_" + random_characters(8)],
    "atlassian-token": ["ATATT3" + random_characters(180, _URL)],
    "new-relic-key": ["NRAK-" + random_characters(27, ascii_uppercase + digits)],
    "sentry-token": ["sntryu_" + random_characters(64)],
    "terraform-token": [".atlasv1." + random_characters(67, _WORD)],
    "vault-token": ["hvs." + random_characters(95, _URL)],
    "pulumi-token": ["pul-" + random_characters(40)],
    "supabase-key": ["sbp_" + random_characters(40), "sb_secret_" + random_characters(31, _URL)],
    "tailscale-key": ["tskey-auth-" + random_characters(40, _WORD)],
    "json-web-token": [JWT],
    "private-key": [
        "AGE-SECRET-KEY-1" + random_characters(58, ascii_uppercase),
        *map(pem, ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]),
        pem("PRIVATE KEY").replace("\n", "\\n"),
    ],
}
"""By kind, secrets of a published format."""

CALLED = [
    ("AccountName=a;AccountKey={};EndpointSuffix=b", random_characters(86, _BASE64) + "==", "azure-key"),
    ("the bot's token is 123456789:AA{}", random_characters(33, _URL), "telegram-token"),
    ("postgres://admin:{}@db.example.org:5432/app", "Vq8_sTz2mK", "password-in-url"),
    ("redis://:{}@cache:6379/0", "Vq8sTz2mK", "password-in-url"),
    ("amqp://app:{}@mq/", "p@ss:w0rd", "password-in-url"),
    ("password = '{}'", PASSWORD, "password"),
    ('PASSWORD: str = "{}"', PASSWORD, "password"),
    ("DB_PASSWORD={}\nDB_USER=ana", "hunter22", "password"),
    ('{{"dbPassword": "{}"}}', PASSWORD, "password"),
    (r"{{\"pwd\": \"{}\"}}", PASSWORD, "password"),
    ("passphrase: {}", PASSWORD, "password"),
    ("my password is {}, remember it", PASSWORD, "password"),
    ("The wifi password for the cabin is {}.", PASSWORD, "password"),
    ("mysqldump --password {} shop", PASSWORD, "password"),
    ("machine api.example.org login ana password {}", PASSWORD, "password"),
    ("curl -s -u ana:{} https://api.example.org", PASSWORD, "password"),
    ("api_key: {}", TOKEN, "api-key"),
    ("X-Api-Key: {}", TOKEN, "api-key"),
    ("the API key is {} if you need it", TOKEN, "api-key"),
    ('os.environ["API_KEY"] = "{}"', TOKEN, "api-key"),
    ("https://maps.example.org/?access_token={}&zoom=3", TOKEN, "access-token"),
    (
        "DISCORD_TOKEN={}",
        random_characters(24, _WORD) + ".G" + random_characters(5, _WORD) + "." + random_characters(38, _WORD),
        "access-token",
    ),
    ("client_secret={}", TOKEN, "secret-key"),
    ("SECRET_KEY_BASE={}", random_characters(128), "secret-key"),
    ("curl -H 'Authorization: Bearer {}' https://a", random_characters(40, _URL), "authorization-header"),
    ("Authorization: Basic {}", base64.b64encode(b"ana:Vq8sTz2mK").decode(), "authorization-header"),
]
"""Texts that say what stands in them, the secret, and its kind."""
