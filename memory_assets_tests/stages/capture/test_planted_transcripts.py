"""The rules of masking whole transcripts.

No secret of any form that vendors document can be read afterwards, whichever wrapping it has and wherever it stands in a
record of any harness. Each run draws others: the seed stands in the test's failure and in `PLANTED_SEED` one can give it.
What machines write that is as random as a secret and is none stays as it is.
"""

import base64
import json
import os
from itertools import cycle, islice
from random import Random, SystemRandom

import pytest

from memory_assets.text.masking.redact import find, mask
from memory_assets_tests.once import TEST_ALL
from memory_assets_tests.stages.capture.planted_transcripts import (
    PLACES,
    WRAPPINGS,
    Planted,
    is_readable,
    plant,
)
from memory_assets_tests.stages.capture.vendor_formats import FORMS, LETTERS

SEED = int(os.environ.get("PLANTED_SEED") or SystemRandom().randrange(10**9))


def planted(seed: int, count: int) -> list[Planted]:
    """Returns lines with secrets of all forms in turn, in wrappings and places drawn by the seed."""
    random, forms = Random(seed), list(FORMS)
    random.shuffle(forms)
    return [
        plant(form, random.choice([*WRAPPINGS]), random.choice([*PLACES]), random)
        for form in islice(cycle(forms), count)
    ]


def missed(lines: list[Planted]) -> list[tuple[str, str, str]]:
    """Returns form, wrapping and place of each secret that can still be read, after checking that all bytes are in place."""
    before = b"".join(each.line for each in lines)
    after, _ = mask(before)
    assert [len(line) for line in after.splitlines()] == [len(line) for line in before.splitlines()]
    masked = after.splitlines(keepends=True)
    readable = (
        each for each, line in zip(lines, masked, strict=True) if is_readable(each.secret, line)
    )
    return [(each.form, each.wrapping, each.place) for each in readable]


def test_the_forms_are_of_far_more_than_forty_kinds_and_all_can_be_read_before_masking() -> None:
    assert len(FORMS) >= 250
    assert [
        each.form for each in planted(1, len(FORMS)) if not is_readable(each.secret, each.line)
    ] == []


def test_no_planted_secret_can_be_read_after_masking() -> None:
    assert missed(planted(SEED, 2 * len(FORMS))) == [], f"PLANTED_SEED={SEED}"


@pytest.mark.slow
@pytest.mark.parametrize("offset", range(1, 6 if TEST_ALL else 2))
def test_no_secret_can_be_read_among_thousands(offset: int) -> None:
    assert missed(planted(SEED + offset, 5 * len(FORMS))) == [], (
        f"PLANTED_SEED={SEED} offset={offset}"
    )


def look_alikes(random: Random) -> dict[str, str]:
    """Returns what is random and no secret, by what it is."""

    def word(letters: str, length: int) -> str:
        return "".join(random.choices(LETTERS[letters], k=length))

    certificate = "MIIDXTCCAkWgAwIBAgIJ" + word("b64", 800)
    return {
        "commit": f"commit {word('hex', 40)} (HEAD -> main)\nAuthor: Ann <ann@acme.dev>",
        "short commits": f"{word('hex', 7)}..{word('hex', 7)}  main -> main",
        "uuid": f"request {word('hex', 8)}-{word('hex', 4)}-{word('hex', 4)}-{word('hex', 4)}-{word('hex', 12)} done",
        "checksum": f"{word('hex', 64)}  dist/acme-1.2.0.tar.gz",
        "lock of npm": f'"integrity": "sha512-{word("b64", 86)}==",',
        "lock of yarn": f"checksum: 10c0/{word('hex', 128)}",
        "lock of cargo": f'checksum = "{word("hex", 64)}"',
        "lock of uv": f'{{ url = "https://packages.example.org/packages/{word("hex", 2)}/a.whl", hash = "sha256:{word("hex", 64)}" }}',
        "sum of go": f"golang.org/x/net v0.30.0 h1:{word('b64', 43)}=",
        "image": f"docker.io/library/postgres@sha256:{word('hex', 64)}",
        "container": f"docker logs {word('hex', 12)}",
        "nix": f"/nix/store/{word('lower', 32)}-python3-3.13.1/bin/python3",
        "picture": f"data:image/png;base64,iVBORw0KGgo{word('b64', 600)}",
        "source map": f"//# sourceMappingURL=data:application/wasm;base64,AGFzbQ{word('b64', 200)}",
        "public key": f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{word('b64', 43)} ann@host",
        "known host": f"github.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{word('b64', 350)}",
        "fingerprint": f"256 SHA256:{word('b64', 43)} ann@host (ED25519)",
        "certificate": f"-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----",
        "age recipient": f"age1{word('lower', 58)}",
        "publishable key": 'const client = new Client({ projectId: "acme-shop-2026" })',
        "tool use": f'{{"tool_use_id": "toolu_01{word("alnum", 22)}", "request_id": "req_011{word("alnum", 21)}"}}',
        "codex ids": f'{{"call_id": "call_{word("alnum", 24)}", "id": "rs_{word("hex", 50)}", "turn_id": "fc_{word("hex", 50)}"}}',
        "thinking": f'{{"type": "thinking", "thinking": "", "signature": "{word("b64", 400)}"}}',
        "encrypted": f'{{"type": "reasoning", "encrypted_content": "gAAAAAB{word("url", 500)}"}}',
        "etag": f'ETag: W/"{word("hex", 32)}"',
        "trace": f"traceparent: 00-{word('hex', 32)}-{word('hex', 16)}-01",
        "cache key": f"cache-key: node-modules-{word('hex', 64)}",
        "asset": f"/assets/index-{word('alnum', 8)}.js   143.2 kB",
        "revision": f'down_revision = "{word("hex", 12)}"',
        "documented key id": "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "advice": "Set ANTHROPIC_API_KEY=sk-ant-your-key-here or OPENAI_API_KEY=<your key> in .env",
        "shell": 'TOKEN="$(gh auth token)"; curl -H "Authorization: Bearer $TOKEN" https://api.acme.dev',
        "actions": "password: ${{ secrets.REGISTRY_PASSWORD }}",
        "counts": '{"input_tokens": 123456, "output_tokens": 7890, "cache_read_input_tokens": 4567890}',
        "types": "function login(user: string, password: string): Promise<TokenResponse>",
        "regex": r'TOKEN = re.compile(r"(?:ghp|gho)_[A-Za-z0-9]{36}")',
        "words": "The password policy wants twelve characters; the token is refreshed by the access_token_provider.",
        "minified": "e.token=t.token,this._password=n.password,r={},l&&(l.secret=o.getSecret(i.None))}},4775(A,e,t){",
    }


@pytest.mark.parametrize("kind", look_alikes(Random(0)))
def test_what_is_random_and_no_secret_stays(kind: str) -> None:
    for seed in range(20):
        text = look_alikes(Random(f"{kind} {seed}"))[kind]
        line = (
            json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode()
            + b"\n"
        )
        assert mask(line) == (line, 0), (seed, text)
        assert find(text) == [], (seed, text)
        encoded = base64.b64encode(text.encode()).decode()
        assert find(encoded) == [], (seed, text)
