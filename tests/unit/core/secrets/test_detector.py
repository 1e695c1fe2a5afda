from __future__ import annotations

import random
import string
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.generators.secrets import CALLED, GITHUB_TOKEN, JWT, PASSWORD, PUBLISHED, TOKEN, pem, random_characters
from vicw_core.secrets.detector import find_secrets, mask
from vicw_core.secrets.formats import FORMATS

_ALL = [(secret, kind) for kind, secrets in PUBLISHED.items() for secret in secrets]
_ROOT = Path(__file__).parents[4]


def masked(text: str) -> str:
    return mask(text, find_secrets(text))


@pytest.mark.parametrize(("secret", "kind"), _ALL, ids=[kind for _, kind in _ALL])
@pytest.mark.parametrize(
    "around", ["{}", "Look: {} works.", 'key="{}"', "a\\n{}\\nb", "(`{}`)", "\u00e9\U0001f511{}\n"]
)
def test_secrets_of_published_formats_are_masked_in_any_surroundings(secret: str, kind: str, around: str) -> None:
    assert masked(around.replace("{}", secret)) == around.replace("{}", f"[secret: {kind}]")


def test_every_secret_format_has_a_sample() -> None:
    sampled = set(PUBLISHED) | {kind for *_, kind in CALLED}
    assert {form.kind for form in FORMATS} <= sampled


@pytest.mark.parametrize(("text", "secret", "kind"), CALLED)
def test_a_named_secret_is_masked_and_the_text_around_it_kept(text: str, secret: str, kind: str) -> None:
    assert masked(text.format(secret)) == text.format(f"[secret: {kind}]")


@pytest.mark.parametrize(
    "text",
    [
        "The password is required, case-sensitive and base64-encoded, at least 8-characters long.",
        "Passwords are hashed by argon2id; the token was revoked in 2024; the key is under the mat.",
        "Forgot your password? https://example.org/reset/v2",
        "password = getpass()",
        "password: str",
        "password: Optional[str] = None",
        "token = os.environ['X']",
        "password = settings.database.password2",
        "connect(user=user1, password=passwd2, token=token_1)",
        'password = "${DB_PASSWORD}"',
        "password: {{ vault.db_pw1 }}",
        'api_key = "your-api-key-goes-here-0001"',
        "api_key = sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_1234567890abcdefghijklmnopqrstuvwxyz",
        "password: changeme",
        "password=********",
        "PASSWORD_FILE=/run/secrets/db_password1",
        "password: /run/secrets/pw1",
        "postgres://user:password@localhost/db",
        "https://user:${TOKEN}@github.com/a/b",
        "https://example.org:8080/a@b",
        "postgres://postgres:postgres@localhost/db",
        'Authorization: Bearer <token>, or "Authorization: Bearer $TOKEN"',
        "Authorization: Basic Zm9vYmFyIGJheg==",
        "next_page_token: 4f9a8b7c6d5e4f3a2b1c",
        "primary key: 4f9a8b7c6d5e4f3a2b1c",
        "secretKeyRef: db-credentials-v2",
        "max_tokens: 4096, token count is 123456789012345678",
        "commit 4da1123f0e9b8c7d6a5f4e3d2c1b0a9f8e7d6c5b",
        "id 7f8d9c3e-1b2a-4c5d-8e9f-0a1b2c3d4e5f",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6=="',
        "sk-learn-contrib-and-other-packages, sk-folding-cube-animation-delay",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO",
        "eyJhbGciOiJIUzI1NiJ9 is a header alone",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE" * 2 + "\n-----END PUBLIC KEY-----",
        "test_a_wrong_item_is_named_and_its_whole_request_refused",
        "",
    ],
)
def test_text_without_a_secret_is_unchanged(text: str) -> None:
    assert masked(text) == text


def test_no_file_of_the_product_is_masked() -> None:
    files = [path for part in ("docs", "services", "shared", "client", "deploy") for path in (_ROOT / part).rglob("*")]
    texts = {path: path.read_text("utf-8") for path in files if path.suffix in {".py", ".md", ".yaml", ".toml", ".sh"}}
    assert len(texts) > 200
    assert [path for path, text in texts.items() if find_secrets(text)] == []


def test_a_known_secret_format_takes_precedence_over_its_name() -> None:
    assert masked(f"api_key = {GITHUB_TOKEN}") == "api_key = [secret: github-token]"
    assert masked(f"password: pre!{GITHUB_TOKEN}!post") == "password: [secret: github-token]"
    assert masked(f"Authorization: Bearer {JWT}") == "Authorization: Bearer [secret: json-web-token]"


def test_all_secrets_of_a_text_are_masked() -> None:
    text = f"user=ana\npassword={PASSWORD}\napi_key={TOKEN}\n{pem('PRIVATE KEY')}\npassword={PASSWORD}"
    assert masked(text) == (
        "user=ana\npassword=[secret: password]\napi_key=[secret: api-key]\n[secret: private-key]\n"
        "password=[secret: password]"
    )


def test_a_truncated_private_key_is_masked_to_its_end() -> None:
    whole = pem("RSA PRIVATE KEY")
    assert masked(whole[:300] + "\n\nand so on, he said") == "[secret: private-key]\n\nand so on, he said"


@given(st.permutations([secret for secret, _ in _ALL] + [text.format(secret) for text, secret, _ in CALLED]))
def test_masked_text_has_no_secret(parts: list[str]) -> None:
    once = masked(" \n".join(parts[:12]))
    assert masked(once) == once


@given(st.text(alphabet=string.ascii_lowercase + "=:\"' ._-/@\n\\0189AZ[](){}$", max_size=300))
def test_masking_any_text_twice_changes_nothing_more(text: str) -> None:
    text = f"password{text}"
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "part",
    [
        "password=", "password: a1b2c3! ", "password is ", "--password ", "login a password ", "secret", "token=",
        "api_key:", "key", "://", "://a:b", "://a:b@", "authorization: bearer ", "curl -u a:", "curl ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 30 + "\n", "-----BEGIN RSA PRIVATE KEY-----Version:", "sk-", "sk-a1B2",
        "\\nsk-", "eyJ", "eyJa1B2c3D4e5F6g7H8.", "ghp_a1", "xoxb-", ":AA", "AccountKey=A", "SG.", "whsec_", "glpat-a1.",
        "hooks.slack.com/services/", "a1B", " ", "\n", "\u0130password=", "password for a ",
    ],
)  # fmt: skip
def test_hostile_text_is_scanned_for_secrets_in_bounded_time(part: str) -> None:
    started = time.thread_time()
    find_secrets(part * (1_000_000 // len(part)))
    assert time.thread_time() - started < 20  # where it grew with the square, it would be minutes


def test_ordinary_text_is_scanned_for_secrets_fast() -> None:
    lot = random.Random(1)
    words = ["".join(lot.choices(string.ascii_lowercase, k=lot.randint(2, 9))) for _ in range(2000)]
    text = " ".join(lot.choices([*words, "key", "pass", "It's", "https://example.org/a,", "2024."], k=1_000_000 // 6))
    started = time.thread_time()
    assert find_secrets(text) == []
    assert time.thread_time() - started < 0.5


def test_a_long_value_is_masked_whole_or_not_at_all() -> None:
    secret = random_characters(3000, string.ascii_letters + string.digits)
    assert masked(f"access_token={secret}") == "access_token=[secret: access-token]"
    assert masked(f"password={secret}") == f"password={secret}", "a password of 3000 characters is none"
