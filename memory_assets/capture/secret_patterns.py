"""What secrets look like: vendors' tokens, keys, URLs with passwords, headers, assignments, and all of these in base64.

Each `Family` has an anchor, a regular expression in Rust's dialect that runs over the raw, still escaped text of whole
tables at hundreds of megabytes a second and may be wrong, and finders that look closely at the unwrapped text around an
anchor. Finders yield kind, start and end of what has to be masked. Unwrapping and masking happen elsewhere.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory_assets.capture.secret_values import (
    is_placeholder,
    is_random,
    is_secret_value,
    is_varied,
    is_vendor_token,
)

Found = tuple[str, int, int]
Finder = Callable[[bytes], Iterator[Found]]


@dataclass(frozen=True)
class Family:
    """Secrets that are found in one way; `before` and `after` say how much text around an anchor a finder needs."""

    name: str
    anchor: str
    finders: tuple[Finder, ...]
    before: int = 64
    after: int = 700
    has_base64: bool = False
    is_plausible: Callable[[bytes, int, int], bool] = lambda text, start, end: True
    """Judges the anchor by the raw text at and behind it; saves unwrapping what cannot be a secret."""


# Vendors' tokens: the kind, the fixed beginning, the rest. Where the beginning is short or a common ending of words, the
# character before it must not belong to a word.
_TOKENS: tuple[tuple[str, str, str], ...] = (
    ("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-bedrock", "ABSK", r"[A-Za-z0-9+/]{100,}={0,2}"),
    ("github", "gh[pousr]_", r"[A-Za-z0-9]{30,255}"),
    ("github", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    ("gitlab", "gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-", r"[A-Za-z0-9_.-]{16,300}"),
    ("slack", "xox[a-z](?:[.]xox[a-z])?-", r"[A-Za-z0-9-]{10,400}"),
    ("slack", "xapp-", r"[0-9]-[A-Za-z0-9-]{20,200}"),
    ("slack-webhook", "hooks[.]slack[.]com/(?:services|workflows|triggers)/", r"[A-Za-z0-9+/_-]{20,200}"),
    ("discord-webhook", "discord(?:app)?[.]com/api/webhooks/", r"[0-9]{15,}/[A-Za-z0-9_-]{40,}"),
    ("teams-webhook", "webhook[.]office[.]com/webhookb2/", r"[A-Za-z0-9@/-]{60,}"),
    ("anthropic", "sk-ant-", r"[A-Za-z0-9_-]{20,300}"),
    ("openai", r"\bsk-", r"[A-Za-z0-9_-]{20,300}"),
    ("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("google-oauth", r"\bya29[.]", r"[A-Za-z0-9_.-]{20,}"),
    ("google-oauth", "GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    ("google-oauth", r"\b1//0", r"[A-Za-z0-9_-]{40,}"),
    ("stripe", r"\b(?:sk|rk)_(?:live|test)_", r"[A-Za-z0-9]{16,250}"),
    ("stripe", r"\bwhsec_", r"[A-Za-z0-9+/]{20,100}={0,2}"),
    ("twilio", r"\bSK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("sendgrid", r"\bSG[.]", r"[A-Za-z0-9_-]{16,64}[.][A-Za-z0-9_-]{16,64}"),
    ("mailgun", r"\bkey-", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("brevo", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("npm", r"\bnpm_", r"[A-Za-z0-9]{30,}"),
    ("pypi", r"\bpypi-", r"[A-Za-z0-9_-]{40,}"),
    ("docker", "dckr_(?:pat|oat)_", r"[A-Za-z0-9_-]{20,}"),
    ("hugging-face", r"\bhf_", r"[A-Za-z0-9]{30,}"),
    ("hugging-face", "api_org_", r"[A-Za-z0-9]{30,}"),
    ("digitalocean", "do[opr]_v1_", r"[0-9a-f]{40,}"),
    ("heroku", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}[.]eyJ", r"[A-Za-z0-9_-]{8,}(?:[.][A-Za-z0-9_-]{16,}|[.]?(?![A-Za-z0-9_.-]))"),
    ("jwe", r"eyJ[A-Za-z0-9_-]{8,}[.]", r"[A-Za-z0-9_-]{16,}(?:[.][A-Za-z0-9_-]{8,}){3}"),
    ("linear", "lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,}"),
    ("notion", r"\b(?:ntn|secret)_", r"[A-Za-z0-9]{40,}"),
    ("figma", r"\bfig[dou]r?_", r"[A-Za-z0-9_-]{40,}"),
    ("shopify", r"\bshp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    ("square", r"\bsq0(?:atp|csp|idp)-", r"[A-Za-z0-9_-]{22,60}"),
    ("square", r"\bEAAA", r"[A-Za-z0-9_-]{60}(?![A-Za-z0-9+/_=-])"),
    ("facebook", r"\bEAA", r"[A-Za-z0-9]{90,}(?![A-Za-z0-9+/_=-])"),
    ("databricks", r"\bdapi", r"[0-9a-f]{32}"),
    ("vault", r"\bhv[sbr][.]", r"[A-Za-z0-9_-]{24,}"),
    ("pulumi", r"\bpul-", r"[0-9a-f]{40}"),
    ("doppler", r"\bdp[.](?:pt|st|ct|sa|scim|audit)[.]", r"[A-Za-z0-9_.-]{40,}"),
    ("grafana", r"\bglsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("grafana", r"\bglc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    ("new-relic", r"\bNRAK-", r"[A-Z0-9]{27}"),
    ("sentry", r"\bsntry[su]_", r"[A-Za-z0-9+/=_-]{40,}"),
    ("postman", r"\bPMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("airtable", r"\bpat[A-Za-z0-9]{14}[.]", r"[0-9a-f]{64}"),
    ("atlassian", r"\bAT(?:ATT3|CTT3|BB)", r"[A-Za-z0-9_=-]{30,}"),
    ("supabase", r"\bsb(?:p|_secret)_", r"[A-Za-z0-9_-]{30,}"),
    ("planetscale", r"\bpscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9_=.-]{32,}"),
    ("fly", r"\bfm[12][ar]?_", r"[A-Za-z0-9+/=_]{80,}"),
    ("netlify", r"\bnfp_", r"[A-Za-z0-9]{36}"),
    ("replicate", r"\br8_", r"[A-Za-z0-9]{30,}"),
    ("groq", r"\bgsk_", r"[A-Za-z0-9]{40,}"),
    ("xai", r"\bxai-", r"[A-Za-z0-9]{60,}"),
    ("perplexity", r"\bpplx-", r"[A-Za-z0-9]{40,}"),
    ("cloudflare", r"\bv1[.]0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("tailscale", r"\btskey-[a-z]+-", r"[A-Za-z0-9-]{20,}"),
    ("rubygems", r"\brubygems_", r"[0-9a-f]{48}"),
    ("dropbox", r"\bsl[.]", r"[A-Za-z0-9_-]{100,}"),
    ("contentful", r"\bCFPAT-", r"[A-Za-z0-9_-]{40,}"),
    ("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    ("artifactory", r"\bAKCp", r"[A-Za-z0-9]{60,}"),
    ("buildkite", r"\bbk[ua]a_", r"[0-9a-f]{40}"),
    ("circleci", r"\bCCIP[A-Z]{2,3}_", r"[A-Za-z0-9_]{30,}"),
    ("dynatrace", r"\bdt0[a-z][0-9]{2}[.]", r"[A-Z0-9]{24}[.][A-Z0-9]{60,}"),
    ("langsmith", r"\blsv2_(?:pt|sk)_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("tavily", r"\btvly-", r"[A-Za-z0-9_-]{30,}"),
    ("resend", r"\bre_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("alibaba", r"\bLTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
    ("password-hash", r"[$](?:1|2[abxy]|5|6|y|apr1|argon2id?|argon2i|scrypt)[$]", r"[./A-Za-z0-9$=,+]{20,}"),
    ("azure-key", "(?:AccountKey|SharedAccessKey|SharedSecretKey)=", r"[A-Za-z0-9+/]{30,}={0,2}"),
    ("azure-sas", "[?&;]sig=", r"[A-Za-z0-9+/%_-]{40,}={0,2}"),
)


# Tokens that begin with any letter or digit; each with an anchor that begins at what is rare in it.
_SHAPES: tuple[tuple[str, str, str, str], ...] = (
    ("azure-client-secret", r"\b[A-Za-z0-9_~.-]{3}[0-9]Q~", r"[A-Za-z0-9_~.-]{31,34}", r"[0-9]Q~[A-Za-z0-9_~.-]{12}"),
    ("mailchimp", r"\b", r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])", r"[0-9a-f]{32}-us[0-9]"),
    ("telegram", r"\b[0-9]{8,10}:AA", r"[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", r"[0-9]:AA[A-Za-z0-9_-]{30}"),
    ("discord", r"\b[MNO][A-Za-z0-9_-]{22,28}[.]", r"[A-Za-z0-9_-]{6,7}[.][A-Za-z0-9_-]{27,40}", r"[.][A-Za-z0-9_-]{6}[A-Za-z0-9_-]?[.][A-Za-z0-9_-]{27}"),
    ("terraform", r"\b[A-Za-z0-9]{14}[.]atlasv1[.]", r"[A-Za-z0-9_=-]{60,}", r"[.]atlasv1[.][A-Za-z0-9_=-]{12}"),
)


def _token_finder(kind: str, head: str, tail: str) -> Finder:
    """Returns the finder of one vendor's tokens; `\\b` in the head forbids a letter or digit before it, `_` may be there."""
    bounded = head.startswith(r"\b")
    pattern = re.compile(f"({head.removeprefix(_BOUND)})({tail})".encode())
    is_url = kind.endswith(("webhook", "azure-key", "azure-sas"))

    def find(text: bytes) -> Iterator[Found]:
        for match in pattern.finditer(text):
            if bounded and text[match.start() - 1 : match.start()].isalnum():
                continue
            if is_vendor_token(match[2]):
                yield kind, match.start(2 if is_url else 1), match.end()

    return find


def _token_anchor(head: str, tail: str) -> str:
    """Returns what the prefilter looks for: the head and up to twelve characters of the rest."""
    first = re.match(r"(\[[^\]]+\])\{(\d+)", tail)
    rest = f"{first[1]}{{{min(int(first[2]), 12)}}}" if first else re.match(r"[^{]*", tail)[0]  # type: ignore[index]
    return head.removeprefix(_BOUND) + rest


_BOUND = r"\b"
_AWS_PAIR = re.compile(
    rb"(?:AKIA|ASIA)[A-Z0-9]{16}[\s\S]{1,240}?(?<![A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)


def _find_aws_secret(text: bytes) -> Iterator[Found]:
    """Yields the secret key that stands within a few lines after an access key id, whatever it is called."""
    for match in _AWS_PAIR.finditer(text):
        if is_vendor_token(match[1]) and not re.fullmatch(rb"[0-9a-f]+|[A-Za-z/]+", match[1]):
            yield "aws-secret-key", match.start(1), match.end(1)


_KEY_BEGIN = rb"-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BLOCK = re.compile(_KEY_BEGIN + rb"([\s\S]{0,24000}?)-----END [A-Z0-9 ]{0,24}PRIVATE KEY")
_KEY_CUT = re.compile(_KEY_BEGIN + rb"((?:[^A-Za-z0-9+/]{0,24}[A-Za-z0-9+/]{16,}={0,2}){1,400})")
_KEY_BARE = re.compile(
    rb"(?<![A-Za-z0-9+/])(?:MII[A-J][A-Za-z0-9+/]{2}IBA(?:AKC|DAN)|b3BlbnNzaC1rZXktdjE|MHcCAQEE|MIGHAgEAMBMGByqGSM49|"
    rb"MC4CAQAwBQYDK2Vw)[A-Za-z0-9+/]{20,}={0,2}(?:[^A-Za-z0-9+/\"]{1,12}[A-Za-z0-9+/]{16,}={0,2})*"
)
_PUTTY = re.compile(rb"Private-Lines: [0-9]+\s+((?:[^A-Za-z0-9+/]{0,12}[A-Za-z0-9+/]{16,}={0,2}){1,400})")
_LETTERS = re.compile(rb"[A-Za-z0-9+/]{12,}={0,2}")


def _find_private_keys(text: bytes) -> Iterator[Found]:
    """Yields the body of each private key, whole, cut off, or without its first line, and as PuTTY writes it."""
    for match in _KEY_BLOCK.finditer(text):
        body = match[1]
        letters = sum(len(run) for run in _LETTERS.findall(body) if is_random(run, 0.3))
        if letters >= 24 and letters >= 0.4 * len(body):
            yield "private-key", match.start(1), match.end(1)
    for pattern, group in ((_KEY_CUT, 1), (_PUTTY, 1), (_KEY_BARE, 0)):
        for match in pattern.finditer(text):
            if is_random(match[group], 0.4) and b"****" not in match[group]:
                yield "private-key", match.start(group), match.end(group)


_URL = re.compile(rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://([^\s/@:\"'<>`\\]{0,120}):([^\s\"'<>`\\]{3,200}?)@(?=[A-Za-z0-9\[$%{.*-])")


def _find_url_passwords(text: bytes) -> Iterator[Found]:
    """Yields the password of each `scheme://user:password@host`."""
    for match in _URL.finditer(text):
        if b"/" in match[2] and b"@" not in match[2] and b":" not in match[2] and not is_random(match[2]):
            continue
        if _is_url_password(match[2]):
            yield "url-password", match.start(2), match.end(2)


def _is_url_password(value: bytes) -> bool:
    """Says whether what stands between colon and @ is more than `password`, `$PASS` or `<token>`."""
    if is_placeholder(value) or value.startswith((b"$", b"%", b"{", b"[", b"(")):
        return False
    return len(value) >= 6 and (is_secret_value(value, quoted=True, password=True) or is_random(value))


# Names that tell of a secret. `token` in the plural counts tokens nearly always; `auth` and `key` alone say too little.
_PASSWORDS = r"passw(?:or)?d|passphrase|passcode|passwort|pwd|pswd"
_QUOTED_AUTH = r"(?<=[\"'])auth(?=[\"'\\])|"
_NAMES = (
    rf"{_PASSWORDS}|secret|token|api[_. -]?key|(?:access|account|private|signing|encryption|encrypt|master|service|storage|"
    r"shared|client|app|application|license|webhook|auth|deploy|admin|session|hmac|jwt|ssh|rsa|aes|cipher|primary|secondary)"
    r"[_-]?key|credentials?|connection[_-]?string|authorization|jwt|bearer|[A-Z0-9]_KEY|_auth|" + _QUOTED_AUTH + r"[_-]pat(?![A-Za-z0-9_-])|dsn"
)
_SUFFIX = r"(?:[_-]?(?:[A-Z]?[a-z0-9]{1,12}|[A-Z0-9]{1,12})){0,2}"
_ASSIGNED = re.compile(
    (
        rf"(?P<name>(?:{_NAMES}){_SUFFIX})"
        r"(?:"
        r"(?:\\?[\"'`\])]){0,3}[ \t]*(?::[ \t]*[A-Za-z&'.|\[\]]{1,24}[ \t]*=|=>|:=|\?=|==?|:|>)[ \t]*(?:\n[ \t]*(?=[\"'`]))?"
        r"|[\"']?[ \t]*,[ \t\n]*(?:[\"']?value[\"']?[ \t]*[:=][ \t]*)?(?=\\?[\"'`])"
        r"|[\"']?,?[ \t\n]+(?:[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+>|-])?[ \t]*[\"']?value[\"']?[ \t]*[:=][ \t]*"
        r"|[ \t]+(?:is|was)[ \t]*:?[ \t]+"
        r"|(?<=[a-z])[ \t]+(?=[^\s\"'`=:(){}\[\]<>.,;-]{8,}(?:[\s\"'`]|$))"
        r")"
        r"(?:[bfru@](?=[\"'`]))?(?:(?:[Bb]earer|[Bb]asic|[Tt]oken)[ \t]+)?"
        r"(?:(?P<escape>\\?)(?P<quote>[\"'`])(?:(?:[Bb]earer|[Bb]asic|[Tt]oken)[ \t]+)?(?P<quoted>(?:\\(?![\"'])[^\n]|(?!(?P=quote))[^\n\\]){6,4000}?)(?P=escape)(?P=quote)"
        r"|(?P<bare>(?:[^\s\"'`&;,<>\\]|[&;,](?!\s|$|amp;|[A-Za-z][\w.-]*[=:])|\\(?![\"'`nrt\\])){6,4000}))"
    ).encode("latin-1"),
    re.IGNORECASE,
)
_BEFORE = re.compile(rb"[A-Za-z0-9_.$-]{0,48}\Z")
_NOT_SECRET_NAMES = re.compile(
    rb"(?:public|foreign|sort|partition|cache|group|dedupe|idempotency|object|hash|sha|checksum|digest|next|page|"
    rb"continuation|cancellation|csrf_?param)[_.-]?(?:key|token)|token[_-]?(?:type|count|limit|usage|budget|url|uri|path|file|name|id|"
    rb"endpoint|izer)|(?:secret|password|key|credential|token|auth)s?[_-]?(?:name|file|path|url|uri|ref|helper|provider|arn|type|field|length|id|env|var)\Z|"
    rb"author|tokens|tokeniz",
    re.IGNORECASE,
)
_IS_PASSWORD = re.compile(_PASSWORDS.encode(), re.IGNORECASE)


def _find_assigned(text: bytes) -> Iterator[Found]:
    """Yields each value that is assigned to a telling name: `.env`, JSON, YAML, code, URL query, flag, header or prose."""
    for match in _ASSIGNED.finditer(text):
        start = match.start("name")
        head = _BEFORE.search(text, max(0, start - 48), start)
        name = (head[0] if head else b"") + match["name"]
        group = "quoted" if match["quoted"] is not None else "bare"
        value = match[group] if group == "quoted" else _trimmed(match["bare"])
        if _NOT_SECRET_NAMES.search(name) or (group == "bare" and _is_call(value)):
            continue
        separator = text[match.end("name") : match.start(group)]
        if not separator.strip() and not name.startswith(b"--"):
            continue
        quoted = group == "quoted" or separator == b"=" and not re.search(rb"[a-z]", name) or name.startswith(b"--")
        if is_secret_value(value, quoted=quoted, password=_IS_PASSWORD.search(name) is not None):
            yield "assigned-secret", match.start(group), match.start(group) + len(value)


_RAW_VALUE = re.compile(rb"[^\s\"'`<\\]*")
_RAW_CODE = re.compile(rb"[&*!(]*[A-Za-z_.:]*[(\[{].*", re.DOTALL)


def _may_be_secret(text: bytes, _: int, end: int) -> bool:
    """Says whether an assigned value, still escaped, may be more than a word, a name or a call; in code most are not."""
    raw = _RAW_VALUE.match(text, end - 6, end + 200)
    value = raw[0] if raw else b""
    if text[end - 6 + len(value) :][:2] in (b"\\u", b"\\x", b"\\\\") or b"%" in value:
        return True
    if _RAW_CODE.fullmatch(value) or b"**" in value:
        return False
    return is_random(value) or is_varied(value) or re.search(rb"[0-9]{6}", value) is not None


_COMMAND = re.compile(rb"(?:bearer|basic|cookie|login|mnemonic|seed|recovery|backup) ?|-|sshpass|mysql|docker|redis|IDENT|PASSWORD", re.IGNORECASE)
_TOKEN_RUN = re.compile(rb"[A-Za-z0-9_.+/:=,$%-]*")


def _may_be_token(text: bytes, start: int, _: int) -> bool:
    """Says whether what begins like a vendor's token goes on like one."""
    run = _TOKEN_RUN.match(text, start, start + 80)
    is_token = run is not None and len(run[0]) >= 18 and is_random(run[0], 0.2)
    return is_token or _COMMAND.match(text, start) is not None


_CALL = re.compile(rb"[&*!(]*([A-Za-z_][\w.:]*)[(\[{]")


def _is_call(value: bytes) -> bool:
    """Says whether an unquoted value is a call or a composite literal of code."""
    call = _CALL.match(value)
    return call is not None and (b"." in call[1] or not is_random(call[1], 0.55))


def _trimmed(value: bytes) -> bytes:
    """Returns an unquoted value without the punctuation of the sentence or code around it."""
    value = value.rstrip(b".,;:!")
    while value[-1:] in (b")", b"]", b"}") and value.count(value[-1:]) > value.count(_OPENING[value[-1:]]):
        value = value[:-1].rstrip(b".,;:!")
    return value


_OPENING = {b")": b"(", b"]": b"[", b"}": b"{"}

_HEADER = re.compile(rb"(?<![A-Za-z])(bearer|basic)[ \t]+([A-Za-z0-9+/_.~=-]{16,4000})", re.IGNORECASE)
_USER = re.compile(rb"(?:\s-u|--user|--proxy-user)[ =]*[\"']?[^\s:\"'\\]{1,80}:([^\s\"'\\]{6,200})")
_PASS_FLAG = re.compile(
    rb"(?:sshpass[ \t]+-p|(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;&]{0,120}?[ \t]-p|docker login[^\n|;&]{0,120}?[ \t]-p|"
    rb"redis-cli[^\n|;&]{0,120}?[ \t]-a|IDENTIFIED BY|PASSWORD)[ \t]*[\"']?([^\s\"'\\;]{8,200})"
)
_NETRC = re.compile(rb"\blogin\s+\S{1,80}\s+password\s+([^\s\"'\\]{6,200})")
_MNEMONIC = re.compile(
    rb"(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))[\"'`]?[^A-Za-z\n]{1,6}((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})", re.IGNORECASE
)


def _find_headers(text: bytes) -> Iterator[Found]:
    """Yields what follows Bearer and Basic, and passwords given to well-known commands."""
    for match in _HEADER.finditer(text):
        if is_secret_value(match[2], quoted=True, password=False) and _basic_password(match[2]):
            yield "authorization", match.start(2), match.end(2)
    for pattern in (_USER, _PASS_FLAG, _NETRC):
        for match in pattern.finditer(text):
            if is_secret_value(match[1], quoted=True, password=True):
                yield "password", match.start(1), match.end(1)
    for match in _MNEMONIC.finditer(text):
        yield "mnemonic", match.start(1), match.end(1)


def _basic_password(value: bytes) -> bool:
    """Says whether the value, when it is `user:password` in base64, has a password that is worth hiding."""
    try:
        user, colon, password = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True).partition(b":")
    except ValueError:
        return True
    if not colon or not (user + password).isascii():
        return True
    return is_secret_value(password, quoted=True, password=True)


_COOKIES = re.compile(rb"(?:set-)?cookie[\"'`]?[ \t]*[:=,][ \t]*[\"'`]?((?:[\w.%$!-]{1,60}=[^\s;\"'`\\]*;?[ \t]?){1,40})", re.IGNORECASE)
_COOKIE = re.compile(rb"([\w.%$!-]{1,60})=([^\s;\"'`\\]{8,4000})")
_COOKIE_JAR = re.compile(rb"(?:\s-b|--cookie)[ =]*[\"']?((?:[\w.%$!-]{1,60}=[^\s;\"'`\\]*;?[ \t]?){1,40})")


def _find_cookies(text: bytes) -> Iterator[Found]:
    """Yields the values of cookies in headers and in curl's flags; attributes such as Path are no secrets."""
    for pattern in (_COOKIES, _COOKIE_JAR):
        for header in pattern.finditer(text):
            for match in _COOKIE.finditer(text, header.start(1), header.end(1)):
                attribute = match[1].lower() in (b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority")
                if not attribute and is_secret_value(match[2], quoted=True, password=True):
                    yield "cookie", match.start(2), match.end(2)


_SEPARATOR = (
    r"(?:\\*[\"'`\])]|&quot;|&#3[49];|%2[27]){0,3}"
    r"(?:,?(?: |\\+[nt]|\n|\t|[0-9]{1,6}(?:\x7f+|\t|\\+t|\\+u2192)|[+>|-])*\\*[\"']?value|"
    r"(?: |\\+[nt]|\n|\t|%20)*(?:=>|:=|[:=,>]|%3[aAdD]| is | was |:[A-Za-z&'. |\[\]]{1,26}=))"
    r"(?: |\\+[nt]|\n|\t|\\*[\"'`:=,@]|&quot;|&#3[49];|%2[027]|[bfru]\\*[\"'])*"
)
_KEYWORD_ANCHOR = (
    rf"(?i:(?:{_NAMES.replace('token|', '').replace('[_-]pat(?![A-Za-z0-9_-])|', '').replace(_QUOTED_AUTH, '').replace('[A-Z0-9]_KEY', '(?-i:[A-Z0-9]_KEY)')})(?:[_-]?[A-Za-z0-9]{{1,12}}){{0,2}}"
    rf"|[_-]pat|[\"']auth|token(?:[a-rt-z0-9_-][A-Za-z0-9_-]{{0,20}})?){_SEPARATOR}[^ \t\n\\\"'`]{{6}}"
    rf"|--[a-z-]{{0,24}}(?:{_PASSWORDS}|secret|token|key|pat|credentials?)[ =][^ \t\n\\]{{6}}"
)
_COMMAND_ANCHOR = (
    r"(?i:bearer|basic) +[A-Za-z0-9+/_.~=-]{16}|(?:-u|--user|--proxy-user)[ =]\\*[\"']?[^ :\"'\\]+:[^ \"'\\]{6}|sshpass|mysql[a-z]* [^\n|;&]{0,120}-p[^ ]|docker login|"
    r"redis-cli|IDENTIFIED BY|PASSWORD '|login(?: |\\n|\n)+[^ ]+(?: |\\n|\n)+password |(?i:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))"
    r"|(?i:cookie)\\*[\"'`]?[ \t]*[:=,][ \t]*\\*[\"'`]?[A-Za-z0-9_.%$!-]{1,60}=|(?:-b|--cookie)[ =]\\*[\"']?[A-Za-z0-9_.%$!-]{1,60}="
)

# ASCII text in base64: of each four letters the first three leave one bit unset, because no byte has its highest bit.
_BASE64_TEXT = r"(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){6}"
_RUN = re.compile(rb"[A-Za-z0-9+/_-]{16,}(?:(?:\r?\n(?:[ \t]*[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+> -])?[ \t]*|[ \t]{1,8})[A-Za-z0-9+/_-]{4,})*={0,2}")


def _may_be_text(text: bytes, start: int, end: int) -> bool:
    """Says whether base64 letters decode to characters that can be printed."""
    decoded = base64.b64decode(text[start : end - (end - start) % 4], altchars=b"-_" if re.search(rb"[-_]", text[start:end]) else None)
    return _PRINTABLE.fullmatch(decoded) is not None


def _may_be_mailgun_or_text(text: bytes, start: int, end: int) -> bool:
    """Says whether the anchor is a key of Mailgun or base64 of text."""
    return end - start == 50 or _may_be_text(text, start, end)


_PRINTABLE = re.compile(rb"[\t\n\r -~]*")


def base64_texts(text: bytes) -> Iterator[tuple[int, int]]:
    """Yields the stretches of base64 letters that decode to text, line breaks included, from a whole group on."""
    for run in _RUN.finditer(text):
        letters = _TEXT_GROUPS.search(text, run.start(), run.end()) if run.end() - run.start() >= 24 else None
        if letters is not None and _may_be_text(text, *letters.span()):
            before = sum(map(len, re.findall(rb"[A-Za-z0-9+/_-]+", text[run.start() : letters.start()])))
            yield (run.start() if before % 4 == 0 else letters.start()), run.end()


_TEXT_GROUPS = re.compile(_BASE64_TEXT.encode())

_MAILGUN = _token_finder("mailgun", r"\b", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z-])")

FAMILIES: tuple[Family, ...] = (
    Family(
        "tokens and commands",
        "|".join((*(_token_anchor(head, tail) for _, head, tail in _TOKENS), _COMMAND_ANCHOR)),
        (*(_token_finder(*token) for token in _TOKENS), _find_aws_secret, _find_headers, _find_cookies),
        after=1_500,
        is_plausible=_may_be_token,
    ),
    *(Family(kind, anchor, (_token_finder(kind, head, tail),)) for kind, head, tail, anchor in _SHAPES),
    Family(
        "private keys",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|Private-Lines:|MII[A-J][A-Za-z0-9+/]{2}IBA|b3BlbnNzaC1rZXktdjE|MHcCAQEE|MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw",
        (_find_private_keys,),
        after=26_000,
    ),
    Family("urls", r"(?::|%3[aA])(?:\\*/|%2[fF]){2}[^ /@\"'<>`\\]*(?::|%3[aA])[^ \"'<>`\\]{3,200}(?:@|%40)", (_find_url_passwords,)),
    Family("assignments", _KEYWORD_ANCHOR, (_find_assigned,), before=96, after=256, is_plausible=_may_be_secret),
    Family(
        "mailgun and base64",
        rf"[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}|{_BASE64_TEXT}",
        (_MAILGUN,),
        before=2_000,
        after=2_000,
        has_base64=True,
        is_plausible=_may_be_mailgun_or_text,
    ),
)
