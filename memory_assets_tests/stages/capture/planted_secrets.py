"""Makes up secrets of many kinds and hides them in texts as sessions have them.

Everything is drawn from a `random.Random`; the shapes are those the vendors document, and nothing is shared with the
detector. `plant` returns a text, and the part of it that nobody may read afterwards.
"""

import base64
import json
import string
from collections.abc import Callable
from random import Random
from urllib.parse import quote, urlencode

DIGITS = string.digits
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


def draw(random: Random, letters: str, length: int) -> str:
    """Returns a random word over the letters."""
    return "".join(random.choices(letters, k=length))


def json_part(value: object) -> str:
    """Returns base64url of JSON, as a token's part."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(random: Random) -> str:
    """Returns a signed token."""
    claims = {"sub": draw(random, HEX, 12), "iat": random.randrange(10**9)}
    return f"{json_part({'alg': 'HS256', 'typ': 'JWT'})}.{json_part(claims)}.{draw(random, URLSAFE, 43)}"


def private_key(random: Random, name: str) -> str:
    """Returns the body of a key between its two lines."""
    first = {"RSA ": "MIIEpAIBAAKCAQEA", "OPENSSH ": "b3BlbnNzaC1rZXktdjEAAAAA"}.get(
        name, "MIIEvQIBADANBgkqhkiG9w0BAQEF"
    )
    body = first + draw(random, BASE64, 64 * 12 - len(first))
    return "\n".join(body[start : start + 64] for start in range(0, len(body), 64))


def password(random: Random) -> str:
    """Returns a password of twelve to twenty characters with letters, digits and two signs."""
    middle = draw(random, ALNUM, random.randint(9, 16)) + random.choice(string.digits)
    return (
        random.choice(string.ascii_letters)
        + random.choice("!#*-_")
        + middle
        + random.choice("!?+~")
    )


Kind = Callable[[Random], tuple[str, str]]


def bare(prefix: str, letters: str, length: int) -> Kind:
    """Returns the kind of token that is known by its prefix alone, in a neutral sentence."""

    def make(random: Random) -> tuple[str, str]:
        secret = prefix + draw(random, letters, length)
        return random.choice(
            ["{}", "it printed {} and went on", "value: {}", "({})", "`{}`", "KEY={}"]
        ).format(secret), secret

    return make


def within(template: str, make: Callable[[Random], str]) -> Kind:
    """Returns the kind that only its surroundings give away."""

    def of(random: Random) -> tuple[str, str]:
        secret = make(random)
        return template.replace("{}", secret), secret

    return of


def joined(separator: str, *parts: tuple[str, int], prefix: str = "") -> Callable[[Random], str]:
    """Returns a maker of words over letters and lengths, with the separator between them."""
    return lambda random: (
        prefix + separator.join(draw(random, letters, length) for letters, length in parts)
    )


def key_block(name: str) -> Kind:
    """Returns the kind of a private key between its two lines."""
    return within(
        f"-----BEGIN {name}-----\n{{}}\n-----END {name}-----",
        lambda random: private_key(random, name.split("PRIVATE")[0]),
    )


def basic(random: Random) -> str:
    """Returns user and password as HTTP wants them."""
    return base64.b64encode(f"ann:{password(random)}".encode()).decode()


def service_account(random: Random) -> tuple[str, str]:
    """Returns the file that Google gives a service account."""
    body = private_key(random, "")
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
    return json.dumps({"type": "service_account", "private_key": key}), body


def aws_pair(random: Random) -> tuple[str, str]:
    """Returns an access key id with its secret as the next column."""
    secret = draw(random, BASE64, 40)
    return f"AKIA{draw(random, UPPER, 16)},{secret}", secret


UUID = joined("-", (HEX, 8), (HEX, 4), (HEX, 4), (HEX, 4), (HEX, 12))
WORD = joined("", (ALNUM, 32))
AZURE = (
    "DefaultEndpointsProtocol=https;AccountName=media;AccountKey={};EndpointSuffix=core.windows.net"
)
BUS = "Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}"

KINDS: dict[str, Kind] = {
    "aws access key": bare("AKIA", UPPER, 16),
    "aws temporary key": bare("ASIA", UPPER, 16),
    "aws secret key": within("aws_secret_access_key = {}", joined("", (BASE64, 40))),
    "aws secret beside its id": aws_pair,
    "aws session token": within(
        "export AWS_SESSION_TOKEN={}", joined("", (BASE64, 300), prefix="IQoJb3JpZ2luX2Vj")
    ),
    "github classic": bare("ghp_", ALNUM, 36),
    "github oauth": bare("gho_", ALNUM, 36),
    "github server": bare("ghs_", ALNUM, 36),
    "github user": bare("ghu_", ALNUM, 36),
    "github fine grained": within(
        "{}", joined("_", (ALNUM, 22), (ALNUM, 59), prefix="github_pat_")
    ),
    "gitlab": bare("glpat-", URLSAFE, 20),
    "slack bot": within("{}", joined("-", (DIGITS, 12), (DIGITS, 13), (ALNUM, 24), prefix="xoxb-")),
    "slack user": within("{}", joined("-", (DIGITS, 12), (DIGITS, 12), (HEX, 32), prefix="xoxp-")),
    "slack webhook": within(
        "https://hooks.slack.com/services/{}", joined("/", (UPPER, 9), (UPPER, 11), (ALNUM, 24))
    ),
    "openai": bare("sk-", ALNUM, 48),
    "openai project": bare("sk-proj-", URLSAFE, 120),
    "anthropic": bare("sk-ant-api03-", URLSAFE, 95),
    "google api key": bare("AIzaSy", URLSAFE, 33),
    "google access token": bare("ya29.a0", URLSAFE, 120),
    "google service account": service_account,
    "azure storage": within(AZURE, lambda r: draw(r, BASE64, 86) + "=="),
    "azure service bus": within(BUS, lambda r: draw(r, BASE64, 43) + "="),
    "stripe live": bare("sk_live_", ALNUM, 24),
    "stripe restricted": bare("rk_live_", ALNUM, 24),
    "stripe webhook": bare("whsec_", ALNUM, 32),
    "twilio key": bare("SK", HEX, 32),
    "twilio auth token": within("TWILIO_AUTH_TOKEN={}", joined("", (HEX, 32))),
    "sendgrid": within("{}", joined(".", (URLSAFE, 22), (URLSAFE, 43), prefix="SG.")),
    "mailgun": bare("key-", HEX, 32),
    "npm": bare("npm_", ALNUM, 36),
    "npmrc": within("//npm.example.org/:_authToken={}", UUID),
    "pypi": bare("pypi-AgEIcHlwaS5vcmc", URLSAFE, 150),
    "docker": bare("dckr_pat_", URLSAFE, 27),
    "docker config": within('{"auths": {"ghcr.io": {"auth": "{}"}}}', basic),
    "hugging face": bare("hf_", string.ascii_letters, 34),
    "digitalocean": bare("dop_v1_", HEX, 64),
    "heroku": within("HEROKU_API_KEY={}", UUID),
    "telegram": within("{}", lambda r: f"{draw(r, '123456789', 10)}:AA{draw(r, URLSAFE, 33)}"),
    "discord": within(
        "{}", lambda r: f"M{draw(r, ALNUM, 23)}.{draw(r, ALNUM, 6)}.{draw(r, URLSAFE, 27)}"
    ),
    "jwt": within("{}", jwt),
    "rsa private key": key_block("RSA PRIVATE KEY"),
    "ssh private key": key_block("OPENSSH PRIVATE KEY"),
    "pgp private key": key_block("PGP PRIVATE KEY BLOCK"),
    "postgres url": within("postgres://app:{}@db.internal:5432/app", password),
    "mongodb url": within(
        "mongodb+srv://root:{}@cluster0.ab1cd.mongodb.net/?retryWrites=true", password
    ),
    "redis url": within("redis://:{}@cache:6379/0", password),
    "amqp url": within("amqp://svc:{}@mq.internal/vhost", password),
    "https basic url": within("https://deploy:{}@git.example.net/team/repo.git", password),
    "authorization bearer": within("Authorization: Bearer {}", joined("", (URLSAFE, 40))),
    "authorization basic": within("Authorization: Basic {}", basic),
    "cookie": within("Cookie: theme=dark; sessionid={}; lang=en", WORD),
    "set-cookie": within(
        "Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly", joined("", (URLSAFE, 32))
    ),
    "env password": within("DB_PASSWORD={}", password),
    "env secret": within("export SESSION_SECRET='{}'", WORD),
    "json api key": within('{"api_key": "{}", "region": "eu"}', WORD),
    "yaml password": within("database:\n  user: app\n  password: {}\n", password),
    "yaml client secret": within('client_secret: "{}"', joined("", (URLSAFE, 40))),
    "flag": within("deploy --token {} --region eu", WORD),
    "flag with equals": within("tool --api-key={} run", WORD),
    "curl user": within("curl -u admin:{} https://api.internal/", password),
    "code": within('const password = "{}";', password),
    "typed code": within('api_secret: str = "{}"', WORD),
    "xml": within("<password>{}</password>", password),
    "kubernetes env": within('- name: DB_PASSWORD\n  value: "{}"', password),
    "mysql flag": within("mysql -u root -p{} shop", joined("", (ALNUM, 16))),
    "query": within("GET /v1/things?access_token={}&page=2", WORD),
    "php constant": within("define('DB_PASSWORD', '{}');", password),
    "jdbc url": within("jdbc:mysql://db/shop?user=app&password={}", password),
    "header token": within("curl -H 'Authorization: token {}' https://api.internal/", WORD),
    "token as user": within("git clone https://{}@git.example.net/o/r.git", WORD),
    "signed url": within(
        "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={}", joined("", (HEX, 64))
    ),
    "piped login": within("echo {} | docker login -u bob --password-stdin", password),
    "mail pass": within("smtp_pass={}", password),
    "variable set": within("aws configure set aws_secret_access_key {}", joined("", (BASE64, 40))),
    "netrc": within("machine git.example.net login bob password {}", password),
    "sentence": within("the password is {} and it works", password),
}


def nested(text: str, depth: int, random: Random) -> str:
    """Returns the text as a string of a JSON document inside a JSON document, `depth` times."""
    for _ in range(depth):
        text = json.dumps({"id": draw(random, HEX, 8), "body": text, "n": 1})
    return text


def coloured(text: str, random: Random) -> str:
    """Returns the text with a colour around it, and one that begins inside."""
    place = random.randrange(len(text) + 1)
    return f"\x1b[31m{text[:place]}\x1b[01;32m\x1b[K{text[place:]}\x1b[0m"


def wrapped_lines(text: str, width: int = 76) -> str:
    """Returns the text in lines of the width, as `base64` prints them."""
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


WRAPPERS: dict[str, Callable[[str, Random], str]] = {
    "plain": lambda text, _: text,
    "sentence": lambda text, _: f"Here it is:\n\n{text}\n\nuse it with care",
    "json": lambda text, r: nested(text, 1, r),
    "json in json": lambda text, r: nested(text, 2, r),
    "heredoc": lambda text, _: f"cat > .env <<'EOF'\nMODE=dev\n{text}\nEOF\n",
    "colour": coloured,
    "diff": lambda text, _: (
        "@@ -1,2 +1,3 @@\n" + "\n".join("+" + line for line in text.split("\n")) + "\n context"
    ),
    "numbered": lambda text, _: "\n".join(
        f"{n:6d}\t{line}" for n, line in enumerate(text.split("\n"), 1)
    ),
    "arrowed": lambda text, _: "\n".join(
        f"{n:6d}→{line}" for n, line in enumerate(text.split("\n"), 1)
    ),
    "quoted": lambda text, _: "\n".join("> " + line for line in text.split("\n")),
    "fence": lambda text, _: f"```\n{text}\n```",
}


def env_in_base64(text: str, random: Random) -> str:
    """Returns a file with the text somewhere in it, in lines of base64."""
    content = "MODE=dev\n" * random.randrange(20) + text + "\nX=1\n"
    return wrapped_lines(base64.b64encode(content.encode()).decode())


ENCODERS: dict[str, Callable[[str, Random], str]] = {
    "base64": lambda text, _: f"echo {base64.b64encode(text.encode()).decode()} | base64 -d",
    "base64 in lines": env_in_base64,
    "url query": lambda text, r: (
        "https://app.example.net/cb?" + urlencode({"state": draw(r, HEX, 6), "data": text})
    ),
    "percent": lambda text, _: quote(text, safe=""),
}


def plant(kind: str, wrapper: str, random: Random) -> tuple[str, str]:
    """Returns a text with a secret of the kind in the wrapper, and the secret as it stands in the unwrapped text."""
    text, secret = KINDS[kind](random)
    wrap = WRAPPERS.get(wrapper) or ENCODERS[wrapper]
    return wrap(text, random), secret
