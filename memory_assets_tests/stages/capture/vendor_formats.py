"""Secrets in the forms that vendors' documentation and well-known files give them, drawn at random.

A form is a line of text with slots, `<letters:length>`, in which one stretch between `«` and `»` is the secret; the
rest is what stands around it where such secrets are met. `draw_form` fills the slots. Nothing here is shared with the
detector, and nothing is a regular expression of what to find.
"""

import base64
import json
import re
import string
from collections.abc import Callable
from pathlib import Path
from random import Random

LETTERS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "alpha": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "salt": string.ascii_letters + string.digits + "!@#%^*()-_[]{}|:;,.?/~+=",
}
PHRASE_WORDS = """
abandon above acid afraid album anchor april arrow atom badge bamboo beach blossom bracket bronze
cactus canyon ceiling cherry cluster copper cradle dawn desert dolphin dragon echo ember fabric
feather fossil galaxy garlic ginger glacier hammer harvest ivory jungle kitten ladder lemon lunar
magnet maple mirror nephew novel ocean olive orbit pepper planet pumpkin quantum rabbit ribbon
saddle salmon tissue tunnel umbrella velvet walnut wisdom zebra
""".split()
"""Words as those that recovery phrases are drawn from."""
PHRASES: dict[str, Callable[[list[str]], str]] = {
    "words": " ".join,
    "lined": "\n".join,
    "numbered": lambda words: "\n".join(f"{place}. {word}" for place, word in enumerate(words, 1)),
    "listed": lambda words: ", ".join(f'"{word}"' for word in words),
}
"""How a recovery phrase is written down."""

_SLOT = re.compile(
    r"<([a-zA-Z0-9]+):([0-9]+)>|<(password24|password xml|password|pin|pw|basic|jwt|json part|key lines|key escaped|"
    r"password in base64|key in base64|continued)>"
)


def read_sections(path: Path) -> dict[str, list[str]]:
    """Returns the lines of each section of a file of forms, by its heading in brackets."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("[") and "|" not in line:
            lines = sections.setdefault(line.strip("[]"), [])
        elif line:
            lines.append(line)
    return sections


SECTIONS = {
    heading: dict(line.split("|", 1) for line in lines)
    for heading, lines in read_sections(Path(__file__).with_suffix(".txt")).items()
}
BARE_FORMS = SECTIONS["tokens"]
"""Tokens that anybody can tell by their form, wherever they stand."""

FORMS = {**BARE_FORMS, **SECTIONS["named"]}
"""These, and secrets that what stands around them gives away."""


def draw_form(name: str, random: Random) -> tuple[str, str]:
    """Returns a text of the form, and the secret in it."""
    return draw_template(FORMS[name], random)


def draw_template(template: str, random: Random) -> tuple[str, str]:
    """Returns a text of the template, and the secret in it: what stands between `«` and `»`, else the whole text."""
    text = _SLOT.sub(
        lambda slot: _fill(slot, random), template.replace("\\n", "\n").replace("\\\n", "\\n")
    )
    before, opened, rest = text.partition("«")
    if not opened:
        return text, text
    secret, _, after = rest.partition("»")
    return before + secret + after, secret


def _fill(slot: re.Match[str], random: Random) -> str:
    if slot[1] in PHRASES:
        return PHRASES[slot[1]](random.choices(PHRASE_WORDS, k=int(slot[2])))
    if slot[1]:
        return draw_word(random, LETTERS[slot[1]], int(slot[2]))
    return {
        "password": lambda: _password(random, random.randint(10, 18)),
        "password24": lambda: _password(random, 24),
        "password xml": lambda: "<password>",
        "pin": lambda: _short_password(random),
        "pw": lambda: _password(random, 12),
        "continued": lambda: "\\\n",
        "basic": lambda: _base64(f"ann:{_password(random, 14)}"),
        "jwt": lambda: _jwt(random),
        "json part": lambda: _base64(
            json.dumps(
                {"signInAddress": "acme.dev", "secret": draw_word(random, LETTERS["hex"], 64)}
            )
        ),
        "key lines": lambda: "\n".join(
            draw_word(random, LETTERS["b64"], 64) for _ in range(random.randint(3, 24))
        ),
        "key escaped": lambda: "\\n".join(
            draw_word(random, LETTERS["b64"], 64) for _ in range(random.randint(3, 24))
        ),
        "password in base64": lambda: _base64(_password(random, 16)),
        "key in base64": lambda: _base64(_pem(random)),
    }[slot[3]]()


def draw_word(random: Random, letters: str, length: int) -> str:
    """Returns a random word over the letters."""
    return "".join(random.choices(letters, k=length))


def _password(random: Random, length: int) -> str:
    """Returns what a password manager makes: every kind of character at least once, safe in quotes and URLs.

    Three dots or stars in a row are drawn again: that is how people write what they left out.
    """
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "-_.!*+~")
    letters = [random.choice(kind) for kind in kinds] + random.choices("".join(kinds), k=length - 6)
    random.shuffle(letters)
    drawn = (
        random.choice(string.ascii_letters) + "".join(letters) + random.choice(string.ascii_letters)
    )
    return _password(random, length) if "..." in drawn or "***" in drawn else drawn


def _short_password(random: Random) -> str:
    """Returns what people make up: a word that is none, a few digits and perhaps a sign, of eight to ten characters."""
    word = "".join(
        random.choice(letters)
        for letters in ("BCDFGKLMNPRSTVWZ", "aeiou", "bcdfgklmnprstvwz", "aeiou", "klmnrst")
    )
    return (
        word
        + draw_word(random, string.digits, random.randint(3, 4))
        + random.choice(("", "!", "#", "?"))
    )


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _pem(random: Random) -> str:
    body = "\n".join(draw_word(random, LETTERS["b64"], 64) for _ in range(20))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"


def _jwt(random: Random) -> str:
    head = {
        "alg": random.choice(["HS256", "RS256", "ES256"]),
        "typ": "JWT",
        "kid": draw_word(random, LETTERS["hex"], 8),
    }
    claims = {
        "sub": draw_word(random, LETTERS["hex"], 12),
        "iss": "https://id.acme.dev",
        "exp": random.randrange(10**9, 2 * 10**9),
    }
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in (head, claims)
    ]
    return ".".join([*parts, draw_word(random, LETTERS["url"], random.choice([43, 86, 342]))])
