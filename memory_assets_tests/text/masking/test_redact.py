"""The rules of masking.

Nothing but secrets changes, and no length does. What was JSON stays JSON. Masking masked bytes changes nothing, and nothing is
found in what was masked. Every planted secret is gone in every wrapping, and what merely looks like one is left alone.
"""

import base64
import json
import re
import time
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.text.masking import redact
from memory_assets.text.masking.redact import (
    count_secrets,
    find,
    mask,
    mask_frame,
    mask_text,
    secret_rows,
)
from memory_assets.text.visible import INVISIBLE
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.capture.planted_transcripts import PLACES, WRAPPINGS, plant
from memory_assets_tests.stages.capture.vendor_formats import FORMS, LETTERS, draw_word

LABELLED = labelled(__file__)

COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


TOKEN = "ghp_R4nd0mLettersAndD1g1tsThatNobodyHas7"


def line_of(text: str, **more: object) -> bytes:
    """Returns the text as a transcript has it."""
    content = [{"type": "text", "text": text}]
    return (
        json.dumps(
            {"type": "user", "message": {"role": "user", "content": content}, **more}
        ).encode()
        + b"\n"
    )


def masked_text(text: str) -> str:
    """Returns what the text reads after masking."""
    return json.loads(mask(line_of(text))[0])["message"]["content"][0]["text"]


@given(
    *(st.sampled_from(sorted(words)) for words in (FORMS, WRAPPINGS, PLACES)),
    st.text(max_size=60),
    st.integers(0, 10**9),
)
@settings(max_examples=60)
def test_masking_keeps_lengths_and_json_and_is_done_after_once(
    form: str, wrapping: str, place: str, around: str, seed: int
):
    planted = plant(form, wrapping, place, Random(seed))
    chunk = line_of(around) + planted.line + line_of(around)
    masked, count = mask(chunk)
    assert len(masked) == len(chunk)
    assert count >= 1
    assert [len(line) for line in masked.split(b"\n")] == [len(line) for line in chunk.split(b"\n")]
    for line in masked.splitlines():
        json.loads(line)
    assert mask(masked) == (masked, 0)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=8
    )
)
def test_any_json_stays_json_of_the_same_shape(value: object) -> None:
    line = json.dumps({"password": value, "token": value}).encode() + b"\n"
    masked, _ = mask(line)
    assert len(masked) == len(line)
    assert json.loads(masked).keys() == {"password", "token"}


@given(st.binary(max_size=300))
def test_bytes_that_are_no_transcript_at_all_keep_their_length(noise: bytes) -> None:
    chunk = noise + TOKEN.encode() + b"\n" + noise
    masked, _ = mask(chunk)
    assert len(masked) == len(chunk)
    assert masked.count(b"\n") == chunk.count(b"\n")


@pytest.mark.parametrize(
    "line",
    [
        "aws configure set aws_secret_access_key {}",
        "aws_secret_access_key = {}",
        "SecretAccessKey: {}",
    ],
)
@pytest.mark.parametrize(
    "key", ["siRgEODlcOPluMRdoHw27PBrbopjtyHRusqpH0KH", "E/N8BIECHOsEElLyRFtEPSMcGLwi5JUcAp+exXXu"]
)
def test_a_key_of_aws_behind_its_own_name_need_not_look_random(line: str, key: str) -> None:
    assert masked_text(line.format(key)) == line.format("*" * 40)


def test_a_number_outside_a_string_is_left_so_that_the_line_stays_json() -> None:
    line = b'{"password": 84729104771, "note": "ok"}\n'
    assert mask(line)[0] == line


def test_a_key_cut_off_before_its_last_line_does_not_reach_into_the_next_string() -> None:
    body = draw_word(Random(1), LETTERS["alnum"], 200)
    fields = {
        "a": f"-----BEGIN RSA PRIVATE KEY-----\n{body}",
        "b": "AndAnotherValueThatStaysAsItIs42",
    }
    line = json.dumps(fields).encode() + b"\n"
    masked = json.loads(mask(line)[0])
    assert body not in masked["a"]
    assert masked["b"] == "AndAnotherValueThatStaysAsItIs42"


def test_plain_characters_written_as_escapes_hide_nothing() -> None:
    escaped = "".join(f"\\u{ord(character):04x}" for character in f"token={TOKEN}")
    masked, count = mask(b'{"text": "' + escaped.encode() + b'"}\n')
    assert count == 1
    assert TOKEN not in json.loads(masked)["text"]


AS_SEEN = dict.fromkeys(INVISIBLE, "")
HIDEABLE = [
    ("use {}", TOKEN),
    ("key {}", "AKIA" + "QZ7X3MPL5RTW2VNK"),
    ("use {} now", "sk-proj-k3JdY81xQm0ZtVb7WcRn52LsHf9A"),
    ("DB_PASSWORD={}", "tR9!vKq2#mZx"),
    ("the password is {}.", "tR9!vKq2#mZx"),
    ("postgres://ann:{}@db.internal/shop", "tR9!vKq2#mZx"),
]


def hidden(letter: str) -> list[str]:
    """Returns texts with a secret, and the letter at other places of it in each."""
    whole = [text.format(letter.join(secret)) for text, secret in HIDEABLE]
    names = [letter.join("DB_PASSWORD") + "=tR9!vKq2#mZx"]
    mixed = f"use {TOKEN[:2]}{letter}{TOKEN[2:9]}\x1b[0m{letter}{TOKEN[9:12]}\x00{letter * 3}{TOKEN[12:]}"
    return [
        *whole,
        *names,
        *(text.format(secret[:7] + letter + secret[7:]) for text, secret in HIDEABLE),
        mixed,
    ]


@pytest.mark.parametrize("is_ascii", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_invisible_letter_anywhere_hides_no_secret(is_ascii: bool, depth: int) -> None:
    texts = [text for code in sorted(INVISIBLE) for text in hidden(chr(code))]
    lines = texts
    for _ in range(depth):
        lines = [json.dumps({"text": line}, ensure_ascii=is_ascii) for line in lines]
    raw = "\n".join(lines).encode() + b"\n"
    masked = mask(raw)[0]
    assert list(map(len, masked.split(b"\n"))) == list(map(len, raw.split(b"\n")))
    shown = [line.decode() for line in masked.splitlines()]
    for _ in range(depth):
        shown = [json.loads(line)["text"] for line in shown]
    seen = [COLOUR.sub("", text.translate(AS_SEEN)).replace("\x00", "") for text in shown]
    assert [
        text
        for text in seen
        if any(secret[7:] in text or secret[:7] in text for _, secret in HIDEABLE)
    ] == []


@pytest.mark.parametrize(
    "code", [0xAD, 0x61C, 0x180E, 0x200B, 0x200D, 0x202E, 0x2060, 0xFE0F, 0xFEFF, 0xE0041, 0xE0100]
)
def test_a_decoded_text_is_masked_as_it_is_seen_and_keeps_its_length(code: int) -> None:
    for text in hidden(chr(code)):
        masked, _ = mask_text(text)
        seen = COLOUR.sub("", masked.translate(AS_SEEN)).replace("\x00", "")
        assert len(masked) == len(text)
        assert not any(secret[7:] in seen or secret[:7] in seen for _, secret in HIDEABLE)
        assert count_secrets(pl.Series([masked])) == 0


@pytest.mark.parametrize(
    "command",
    [
        "https://app.acme.dev/cb?n=98&state=db.internal%3A5432%3Ashop%3Aann%3AW_McPiwv0Y&ok=1",
        "PGPASSWORD=W_McPiwv0Y!x psql",
        f"echo {TOKEN}\\",
    ],
)
def test_a_secret_before_an_escape_leaves_the_escape_whole(command: str) -> None:
    line = (
        json.dumps({"arguments": json.dumps({"command": ["bash", "-lc", command]})}).encode()
        + b"\n"
    )
    masked, count = mask(line)
    assert count > 0
    assert isinstance(json.loads(masked)["arguments"], str)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("length", [900, 2_400])
def test_a_long_key_whose_name_has_a_colour_is_masked_whole(length: int, depth: int) -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{draw_word(Random(3), LETTERS['alnum'], length)}"
    body = base64.b64encode(key.encode()).decode()
    text = f"    cl\x1b[01;31m\x1b[Kient-key-data: {body[:80]}\x1b[m\x1b[K{body[80:]}\x1b[0m"
    for _ in range(depth):
        text = json.dumps({"text": text})
    masked = mask(text.encode() + b"\n")[0].decode()
    assert body[:24] not in masked and body[-60:] not in masked


@pytest.mark.parametrize("width", [28, 57, 64, 76, 120])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "prefix", ["", "      ", "+", "-", "-  ", "> ", "| ", "{:6d}\t", "{:5d}→", "k8s/shop.yaml:{}:"]
)
def test_wrapped_base64_is_masked_whole_in_every_copy(
    prefix: str, line_end: str, width: int
) -> None:
    """Lines of a diff, of a listing, of a search, in one text and as a list of lines."""
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{draw_word(Random(4), LETTERS['alnum'], 2_400)}"
    body = base64.b64encode(key.encode()).decode()
    lines = [body[start : start + width] for start in range(0, len(body), width)]
    listed = [prefix.format(number) + line + line_end for number, line in enumerate(lines, 1)]
    shown = "".join(listed)
    record = {"output": shown, "aggregated": shown, "lines": [each.rstrip("\n") for each in listed]}
    masked = mask(json.dumps(record).encode() + b"\n")[0].decode()
    assert [line for line in lines[2:-1] if line in masked] == []


@pytest.mark.parametrize(
    "behind", ["\nand so it goes on", '","signature":"EqQBCkYIBxgC', "\r\nNext"]
)
@pytest.mark.parametrize("width", [200, 64, 40])
def test_what_follows_base64_is_no_part_of_it(width: int, behind: str) -> None:
    body = base64.b64encode(
        b"set -gx OPENWEATHER_API_KEY e209ddbe426327760854790187ee8eae"
    ).decode()
    lines = [body[start : start + width] for start in range(0, len(body), width)]
    text = "src/services/authentication\n" + "\n".join(lines) + behind
    assert lines[-1] not in mask_text(text)[0]


def test_two_texts_in_base64_on_one_line_are_both_read() -> None:
    first, second = (
        base64.b64encode(f"{name}_API_KEY={draw_word(Random(name), LETTERS['alnum'], 40)}".encode())
        for name in ("SHOP", "BILLING")
    )
    both = f"{first.decode().rstrip('=')} {second.decode().rstrip('=')}"
    masked, _ = mask_text(f"{both}\n{'and so on ' * 500}")
    assert not {part for part in both.split() if part[-30:] in masked}


@pytest.mark.parametrize(
    "text", LABELLED["what looks like code by chance is masked where a secret must stand"]
)
def test_what_looks_like_code_by_chance_is_masked_where_a_secret_must_stand(text: str) -> None:
    assert len(find(text)) == 1


KEYS = """access account private signing encryption encrypt master service storage shared client app application license webhook auth
    deploy admin session hmac jwt ssh rsa aes cipher primary secondary""".split()


@pytest.mark.parametrize(
    "name",
    [f"{owner}{sign}key" for owner in KEYS for sign in "_-"]
    + "password passwd passphrase passcode passwort pwd pswd secret api_key apikey credential credentials connection_string".split()
    + "connection-string jwt bearer npm_auth dsn token creds psk db_pass db_pw TOKEN_KEY_OF_SHOP".split(),
)
@pytest.mark.parametrize(
    "text",
    [
        '{} = "gT7kQz81LmPq04XrVb29"',
        '(key, {}: "gT7kQz81LmPq04XrVb29")',
        "{}:\n  gT7kQz81LmPq04XrVb29",
    ],
)
def test_a_value_is_masked_behind_every_name_of_a_secret_however_it_is_written(
    name: str, text: str
) -> None:
    for spelled in (name, name.upper()):
        assert [text.format(spelled)[start:end] for start, end in find(text.format(spelled))] == [
            "gT7kQz81LmPq04XrVb29"
        ]


@pytest.mark.parametrize("text", LABELLED["what only looks like a secret is left alone"])
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert masked_text(text) == text
    assert find(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "password\n{}",
        "**Password**\r\n\r\n{}",
        "- **Password:**\n{}",
        "my password is\n{}",
        "my password\nis\n{}",
        "the token is:\n\n{}",
        "API_KEY=\n{}",
        "db_password:\n  {}\nnext: line",
        "Authorization: Bearer\n{}",
        "run it with --password\n{}",
    ],
)
@pytest.mark.parametrize("secret", ["Xk9#mQ2v!Lp7aB", "gT7kQz81LmPq04XrVb29"])
def test_a_value_on_a_line_below_its_name_is_masked_as_on_the_same_line(
    text: str, secret: str
) -> None:
    before = text.format(secret)
    for _ in range(3):
        assert masked_text(before) == before.replace(secret, "*" * len(secret))
        assert [before[start:end] for start, end in find(before)] == [secret]
        before, secret = json.dumps(before), json.dumps(secret)[1:-1]


@pytest.mark.parametrize(
    "text",
    [
        "def check(password):\n    self.assertEqual2(password)",
        "the new token:\nsecond_token_of_the_list2 and more",
        "In this pass:\n\n**Simplify2 the tests**",
        "5f0e\trefs/heads/fix-token\n22f35dac11ec5ef02986d4fdce2e60418a536347\trefs/heads/fix-tokens",
        "Enter your password\nhttps://shop.acme.dev/login2",
        "secret:\n  secretName: shop-tls-2026",
        "  password:\n    description: what the Owner2 typed",
        "api_key:\n- src/shop/ApiKey2.py",
        "The token\n2026-08-03T09:00:00Z was refreshed",
    ],
)
def test_what_stands_below_a_telling_name_and_is_no_secret_is_left_alone(text: str) -> None:
    assert (masked_text(text), find(text)) == (text, [])


def blocks_line(*texts: str, **more: object) -> bytes:
    """Returns a message of several blocks as a transcript has it, a picture between the first and the second."""
    blocks: list[object] = [{"type": "text", "text": text} for text in texts]
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    content = [blocks[0], picture, *blocks[1:]]
    return json.dumps(
        {"type": "user", "message": {"role": "user", "content": content}, **more},
        ensure_ascii=False,
    ).encode()


def masked_blocks(line: bytes) -> list[str]:
    masked, _ = mask(line)
    assert (len(masked), mask(masked)) == (len(line), (masked, 0))
    return [
        block["text"]
        for block in json.loads(masked)["message"]["content"]
        if block["type"] == "text"
    ]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (("password", "Xk9#mQ2v!Lp7"), ("password", "*" * 12)),
        (
            ("my password is", "Xk9#mQ2v!Lp7 on staging"),
            ("my password is", "*" * 12 + " on staging"),
        ),
        (("token:", "`gT7kQz81LmPq04XrVb29`"), ("token:", "`" + "*" * 20 + "`")),
        (("the password", "is", "Xk9#mQ2v!Lp7"), ("the password", "is", "*" * 12)),
        (('café\n"naïve" password:', 'Xk9#"é'), ('café\n"naïve" password:', 'Xk9#"é')),
        (
            ("first\tpassword:", '"Xk9#mQ2v!Lp7" → é'),
            ("first\tpassword:", '"' + "*" * 12 + '" → é'),
        ),
        (("x" * 9_000 + " my token is", "gT7kQz81LmPq04XrVb29\n" * 500), None),
    ],
)
def test_a_name_at_the_end_of_a_block_tells_of_what_begins_the_next(
    blocks: tuple[str, ...], expected: tuple[str, ...] | None
):
    expected = expected or (blocks[0], "*" * 20 + blocks[1][20:])
    assert masked_blocks(blocks_line(*blocks)) == list(expected)


def test_a_secret_that_is_cut_in_two_is_masked_in_both_blocks_and_what_stands_between_them_stays() -> (
    None
):
    key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S"
    line = blocks_line(
        f"-----BEGIN PRIVATE KEY-----\n{key[:48]}", f"{key[48:]}\n-----END PRIVATE KEY-----"
    )
    first, second = masked_blocks(line)
    assert (key[10:40] in first, key[60:90] in second) == (False, False)
    assert first.startswith("-----BEGIN PRIVATE KEY-----") and second.endswith(
        "-----END PRIVATE KEY-----"
    )


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5), st.integers(0, 5))
def test_blocks_of_any_text_keep_their_form_and_masking_them_twice_changes_nothing(
    texts: list[str], at: int
) -> None:
    masked = masked_blocks(
        json.dumps(
            json.loads(blocks_line(*texts[:at], "password", "Xk9#mQ2v!Lp7", *texts[at:]))
        ).encode()
    )
    assert "Xk9#mQ2v!Lp7" not in masked
    assert [len(text) for text in masked] == [
        len(text) for text in (*texts[:at], "password", "Xk9#mQ2v!Lp7", *texts[at:])
    ]


def test_texts_and_lists_of_a_frame_are_masked_where_they_hold_a_secret() -> None:
    texts, lists = [None, f"use {TOKEN}", "é"], [["my password is", "Xk9#mQ2v!Lp7", "é"], [], None]
    frame = pl.DataFrame({"text": texts, "list": lists, "number": [1, 2, 3]})
    masked = mask_frame(frame)
    assert masked.schema == frame.schema
    assert masked["text"].to_list() == [None, "use " + "*" * 40, "é"]
    assert masked["list"].to_list() == [["my password is", "*" * 12, "é"], [], None]
    assert masked["number"].to_list() == [1, 2, 3]
    assert mask_frame(masked).equals(masked)


def test_ids_hashes_signatures_and_blobs_of_transcripts_are_left_alone() -> None:
    random = Random(5)
    uuid = "2b1c9a52-6a0e-4b1f-9a55-0c9f3d9f6c11"
    blob = base64.b64encode(random.randbytes(3_000)).decode()
    ids = dict.fromkeys(("uuid", "parentUuid", "sessionId"), uuid)
    line = line_of("ok", **ids, requestId="req_011CQ2vZ", signature=blob, encrypted_content=blob)
    line += line_of(
        "ok",
        id=f"toolu_01{draw_word(random, LETTERS['alnum'], 22)}",
        gitSha=draw_word(random, LETTERS["hex"], 40),
        data=f"data:image/png;base64,{blob}",
    )
    assert mask(line) == (line, 0)


def test_no_more_clean_texts_are_remembered_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "MOST_CLEAN", 2)
    for number in range(4):
        assert (
            secret_rows(pl.DataFrame({"text": [f"limited {number}", f"limited, too {number}"]}))
            == []
        )
        assert len(redact._clean) <= 2 + 2


def test_hostile_text_takes_no_longer_than_friendly_text() -> None:
    for text in (
        "password=" * 20_000,
        "\\" * 200_000,
        "eyJ" * 60_000,
        "A1+" * 60_000,
        "-----BEGIN PRIVATE KEY-----" * 5_000,
    ):
        started = time.perf_counter()
        mask(line_of(text))
        assert time.perf_counter() - started < 20
