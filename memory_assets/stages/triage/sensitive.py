"""Finds proposals that only a person can approve: downloads, credentials, hosts, and checks that are switched off.

Takes the text of a proposal; gives the reason, or nothing. A line of MEMORY.md is an instruction for every later session, and
the turns of the owner also hold text that others wrote. An attack by such text needs one of these four: code from elsewhere, a
key, an address to send it to, or a check that does not run. In doubt the proposal waits for a person.
"""

import re
import unicodedata

DOWNLOAD = "names a download"
CREDENTIAL = "touches a credential"
HOST = "names a host or address"
CHECK = "switches a check off"


def sensitive_reason(text: str) -> str | None:
    """Returns why only a person can approve the text, or nothing."""
    plain = _plain(text)
    found = [kind for kind, is_in in _KINDS if is_in(plain)]
    return f"{' and '.join(found)}: only a person can approve this" if found else None


def _plain(text: str) -> str:
    """Returns the text without markup and invisible characters, with full-width letters as plain ones."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return _SPACE.sub(" ", _MARKUP.sub("", visible.replace("’", "'")))


_SPACE = re.compile(r"\s+")
_MARKUP = re.compile(r"`|(?<!\*)\*{1,3}(?!\*)")


def _any_of(*patterns: str, flags: int = re.I) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)


_DOWNLOAD = _any_of(
    r"\b(?:curl|wget|wget2|aria2c|lynx|httpie|iwr|irm|iex)\b|\bInvoke-(?:WebRequest|RestMethod|Expression)\b",
    r"\bStart-BitsTransfer\b|\bcertutil\b|\burlretrieve\b",
    r"\bdownload",
    r"\b(?:git|gh repo|hg|jj git) clone\b|\bsvn (?:co|checkout)\b|\bgit submodule add\b|\bdocker (?:image )?pull\b",
    # The package runners fetch a package and run it, in one command.
    r"\b(?:npx (?:-y|--yes)|(?:pnpm|yarn) dlx|bunx|pipx run|uv tool run)\s",
    # What an installer is told by name comes from elsewhere; without one, it installs what the project names already.
    r"\b(?:pip3?|pipx|uv(?: pip| tool)?|npm|pnpm|yarn|bun|gem|cargo|go|brew|apt|apt-get|dnf|yum|apk|choco|winget|conda|mamba)"
    r" (?:install|add|i|get) (?:(?!--?(?:r|e|requirement|editable)\b)-\S+ )*"
    r"(?!(?:in|or|and|on|for|to|when|with|without|from|directly|globally|before|after|it|the|a|an|any|your|inside|locally|"
    r"here|"
    r"again|first|once|last|often|each|every|then|than|also|at|under|must|should|can|will|instead|is|are|as|because|since|"
    r"unless|if|by|outside|never|not|only|anything|packages?|dependenc\w+|everything)\b)"
    r"@?[a-z]\w*(?!\w*\.(?:txt|toml|lock|json)\b)",
    # A shell that reads its program from elsewhere.
    r"\|\s*(?:sudo )?(?:(?:ba|z|da|k|fi)?sh|python3?|node|perl|ruby|php|pwsh|powershell)\b|\b(?:ba|z)?sh <\(|"
    r"\bbase64 (?:-d|-D|--decode)\b",
)

_CREDENTIAL = _any_of(
    r"(?<![a-z])(?:passwords?|passwd|passphrases?|passcodes?|secrets?|credentials?|creds)(?![a-z])",
    # Tokens that a model counts, or that a design system names, are none.
    r"(?<![a-z])(?<!design )(?<!max )(?<!max_)token(?![a-z])(?! (?:count|budget|limit|usage|window|stream)s?\b)",
    r"(?<![a-z])(?:access|refresh|auth|authentication|bearer|api|session|csrf|deploy|bot|id|jwt|oauth|ci|registry|"
    r"publish\w*|github|gitlab|"
    r"npm|pypi|slack|your|my|our|their|all|any|the|these)[ _-]tokens(?![a-z])",
    r"(?<![a-z])(?:api|access|private|signing|signature|encryption|deploy|ssh|gpg|pgp|ssl|tls|master|service[- ]account|"
    r"account)[ _-]?keys?(?![a-z])",
    r"(?<![a-z])(?:bearer|jwt|2fa|mfa|otp|one-time code|seed phrase|(?:session|auth|login) cookies?)(?![a-z])|"
    r"\bAuthorization:",
    # Files and stores that hold keys; `process.env` and its like are code.
    r"(?<!process)(?<!meta)(?<!Deno)(?<!Bun)\.env(?:rc)?(?![a-z])|/etc/(?:passwd|shadow|sudoers)\b",
    r"\.(?:netrc|npmrc|pypirc|pgpass|htpasswd|git-credentials|ssh|aws|azure|gnupg|kube|docker/config)\b",
    r"\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\b(?:authorized_keys|kubeconfig|keychain|keyring|keystore)\b|\w\.(?:pem|p12|pfx|"
    r"jks|kdbx|keytab)\b",
    r"\b(?:docker|npm|yarn|az|gcloud|aws|gh|glab|heroku|fly|vercel|op|vault) (?:auth|login|adduser|configure)\b|"
    r"\bprintenv\b|\bssh-(?:add|agent|keygen|copy-id)\b",
    # What capture has masked was one.
    r"\*{4,}",
)

_DOMAINS = (
    "com|org|net|edu|gov|mil|io|dev|ai|co|cloud|xyz|tech|site|online|website|shop|blog|biz|icu|email|digital|internal|intranet|corp|lan|local|"
    "localdomain|onion|us|uk|eu|de|fr|nl|ch|cz|dk|fi|se|be|es|pt|ie|ca|au|nz|jp|cn|hk|tw|kr|br|mx|ru|ua|su|tr|za|sg|il|tk|gq|ga|ws|gg|fm|tv"
)
"""Last labels of domains that files and attributes in code rarely have."""

_ALSO_DOMAINS = (
    "app|run|live|store|click|link|page|host|space|work|info|name|top|pub|team|tools|chat|world|news|zip|mov|cf|ml|sh|rs|py|pl|md|cc|so|to|me|is|id|"
    "it|in|at|by|la|st|ms|no|am|ac|im|ly|re|li|lu|ro|hu|gr|pw|cx|nu|vc"
)
"""Last labels of files and attributes, too (`install.sh`, `request.user.id`); a path or a port behind them shows a host."""

_HOST_NOUN = r"(?:host(?:name)?|server|machine|domain|site|website|mirror|registry|proxy|endpoint|bucket|gateway|remote)"

_HOST = _any_of(
    r"://\S|\bwww\.\w|\bmailto:",
    rf"(?<![\w-])(?<!\w\.)(?!asp\.net\b)(?:[a-z0-9][a-z0-9-]*\.)+(?:{_DOMAINS})(?![\w-])(?!\.\w)(?!\()",
    rf"(?<![\w./-])(?:[a-z0-9][a-z0-9-]*\.)+(?:{_ALSO_DOMAINS})(?:/\w|:\d{{2,5}}/)",
    rf"\b{_HOST_NOUN} (?:[a-z0-9][a-z0-9-]*\.)+(?:{_ALSO_DOMAINS}|app)(?!\w)",
    r"(?<![\w-])(?<!\w\.)(?:[a-z0-9][a-z0-9-]*\.){2,}app(?![\w-])(?!\.\w)",
    # Written so that no link is made of it.
    r"\w ?(?:\[\.\]|\(\.\)|\[dot\]|\(dot\)) ?\w|\w dot (?:com|org|net|io|dev)\b",
    # Four numbers behind a sign of a version are one.
    r"(?<![\w.=<>~^@-])(?<!version )(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.-]*\w)",
    r"(?<![\w:])(?=[0-9a-f:]*\d)(?:(?:[0-9a-f]{1,4}:){1,6}:[0-9a-f]{0,4}|::[0-9a-f]{1,4}|"
    r"(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4})(?![\w:])",
    # `react@next` and `checkout@v4` are versions.
    r"(?<=[\w.+-])@(?!(?:latest|next|main|master|head|beta|alpha|canary|rc|v?\d[\w.]*)\b)[a-z][\w-]*",
    # Two digits behind a colon are the tag of an image, or a line.
    r"(?<![\w./-])(?!(?:port|line|lines|error|code|exit|issue|status|width|height|z-index):)[a-z][a-z0-9-]*:\d{3,5}(?![\w.])",
    r"(?<![\w./-])[a-z0-9][\w.-]+:(?:~|/[\w.])",
    # What a variable or an option of that name is set to is an address.
    r"\b[A-Z0-9_]*(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|ENDPOINT|PROXY|REGISTRY|MIRROR|INDEX|URL|URI|DSN|ORIGIN|"
    r"REMOTE)S? ?= ?\S",
    r"--(?:[a-z]+-)*(?:host|hostname|server|proxy|registry|index-url|endpoint|url|find-links)[= ]\S|--(?:mirror|remote)=\S",
    r"\bgit remote (?:add|set-url)\b|\binsteadOf\b",
    # In small letters it is the command; "ssh keys" and "ssh transport" name no machine.
    r"\b(?-i:ssh|sftp|telnet|nc|ncat|netcat|ping|nslookup|traceroute) (?:-\S+ )*(?:in)?(?:to )?(?!(?:is|and|or|keys?|for|"
    r"over|when|only|the|a|"
    r"me|us|it|that|instead|config|access|in|to|with|by|as|from|are|can|must|should|never|not|on|sessions?|connections?|"
    r"clients?|agents?|"
    r"before|after|transports?|gateways?|sources?|process|remotes?|urls?|tunnels?|tests?)\b)[a-z\"$]",
    rf"\b(?:{_HOST_NOUN}|box|vm) (?:called |named |is |= ?|: ?)?(?!v\d|http\d)[a-z][a-z-]*-?\d+\b|"
    rf"\b{_HOST_NOUN} (?:called|named) \S",
)

_NOUN = (
    r"(?:(?:unit |type |smoke |integration |test )?tests?|test suites?|suite|ci|pipelines?|lint(?:s|er|ers|ing)?|(?:git |"
    r"commit |pre-commit )?hooks?|"
    r"pre-commit|sandbox(?:es|ing)?|permissions?(?: prompts?| checks?)?|prompts?|approvals?|confirmations?|(?:code |"
    r"security )?reviews?|checks?|"
    r"type[- ]?check(?:s|er|ing)?|signatures?(?: checks?)?|verification|certificates?|tls|ssl|validation|authentication|"
    r"firewall|guards?|guardrails?|"
    r"security|safety|scan(?:s|ner|ning)?|audits?|antivirus|branch protection)"
)
_SWITCH_OFF = (
    r"(?:skip(?:s|ped|ping)?|disabl(?:e|es|ed|ing)|deactivat(?:e|es|ed|ing)|bypass(?:es|ed|ing)?|circumvent(?:s|ed|ing)?|"
    r"ignor(?:e|es|ed|ing)|"
    r"suppress(?:es|ed|ing)?|silenc(?:e|es|ed|ing)|overrid(?:e|es|ing)|(?:turn|switch)(?:s|es|ed|ing)? off)"
)
_SOME = r"(?: [\w'/-]+){0,3}?"
"""Words between a verb and its object: "skip the slow tests"."""

_OFF = _any_of(
    r"--no-(?:verify|lint|hooks?|sandbox|gpg-sign|gpg-checks?|check-certificate|check|checks|ssl|tls|audit|signature\w*|"
    r"strict-ssl)\b",
    r"\bgit commit (?:\S+ )*?-(?!-)[a-z]*n[a-z]*\b",
    r"--(?:dangerously|allow-unauthenticated|unsafe|insecure|trusted-host|privileged|yolo|force-yes|auto-approve|"
    r"allow-all|full-auto|"
    r"passWithNoTests)[\w-]*",
    rf"--(?:skip|disable|bypass|ignore)-(?:[a-z]+-)*{_NOUN}",
    r"\bdangerously[-_ ]?(?:skip|disable|bypass|allow)|\bbypassPermissions\b|\bacceptEdits\b|\byolo\b|\bauto-?approve",
    r"\bverify(?:_ssl|_mode|_certs)? ?[=:] ?(?:False|0|none)\b|\bcheck_hostname ?= ?False\b|\bCERT_NONE\b|"
    r"\b_create_unverified|\bInsecureSkipVerify\b|"
    r"\brejectUnauthorized\b|\bNODE_TLS_REJECT|\bSSL_?(?:NO_)?VERIFY\b|\bsslVerify\b|\bstrict-ssl\b|"
    r"\bStrictHostKeyChecking\b|\bHTTPSVERIFY\b|"
    r"\b(?:curl|wget)\b.* -k\b",
    r"\bset \+(?:e|o|u)|\|\| ?(?:true|:)(?!\w)|\bchmod (?:-R )?(?:[0-7]?777|[0-7]?666|a\+rwx?|o\+w|ugo\+rwx)\b|"
    r"\bsetenforce 0\b|\bcommit\.gpgsign\b",
    r"\bufw disable\b|\biptables -F\b|\bHUSKY=0|\bSKIP=\w|\[(?:skip ci|ci skip|no ci)\]|-DskipTests|\bskipTests\b|"
    r"\bcontinue-on-error\b|\ballow_failure\b",
    r"\beslint-disable|@ts-(?:ignore|nocheck)\b|# ?noqa\b|# ?nosec\b|# ?type: ignore|\bnolint\b|\bcore\.hooksPath\b",
    rf"\b{_SWITCH_OFF}{_SOME} {_NOUN}\b",
    rf"\b(?:turn|switch)(?:s|es|ed|ing)? (?:[\w'-]+ ){{0,3}}?{_NOUN} (?:[\w'-]+ )?off\b",
    rf"\b{_NOUN}(?: [\w'-]+){{0,3}}? (?:off|disabled|skipped|bypassed|ignored|optional|unnecessary|not needed|"
    rf"not required)\b",
    rf"\bwithout(?: (?:running|waiting for|asking for|any|the|a|its|their|our|your|further|passing|prior|"
    rf"going through)){{0,3}} {_NOUN}\b|\bwithout asking\b",
    rf"\b(?:never|do not|don't|no need to|needn't|stop|no) (?:to )?(?:run(?:ning)?|wait(?:ing)? for|ask(?:ing)?(?: me|"
    rf" us)? for|execute|enable|need(?: for)?)"
    rf"{_SOME} {_NOUN}(?= ?(?:$|[.,;:!)]|-|—|–| (?:before|when|at all|first|locally|anymore|any more|here)\b))",
    r"\b(?:never|do not|don't|no need to|stop) ask(?:ing)?(?: me| us| the (?:user|owner))? ?(?:$|[.,;!]|first\b|before\b|"
    r"for (?:permission|approval|confirmation)\b)",
)

_FORBIDDEN = re.compile(
    r"\b(?:never|do not|don't|must not|may not) (?:(?:ever|use|pass|run|add|set|call|commit|push|merge|with|git|"
    r"the|any|a|to|by) )*$",
    re.I,
)
"""What stands before a switch that must not be used: "never commit with --no-verify" switches nothing off."""

_FORBIDDEN_WITHOUT = re.compile(r"\b(?:never|do not|don't|must not|may not|cannot|can't)\b[^.;:]*$", re.I)
"""What stands before "without running the tests" where the tests must run."""

_EXCEPT = re.compile(r"\b(?:unless|except|but|instead|if|only|fail to|forget to)\b", re.I)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


def _names_credential(text: str) -> bool:
    """Returns whether the text names a credential, also within a name in code (`accessToken`, `DB_PASSWORD`)."""
    return bool(_CREDENTIAL.search(text) or _CREDENTIAL.search(_CAMEL.sub(" ", text)))


def _switches_off(text: str) -> bool:
    """Returns whether the text switches a check off and does not forbid just that."""
    return any(not _is_forbidden(text, found) for found in _OFF.finditer(text))


def _is_forbidden(text: str, found: re.Match[str]) -> bool:
    before = text[: found.start()]
    if _EXCEPT.search(text):
        return False
    return bool(_FORBIDDEN.search(before) or (found[0].lower().startswith("without") and _FORBIDDEN_WITHOUT.search(before)))


_KINDS = (
    (DOWNLOAD, lambda text: bool(_DOWNLOAD.search(text))),
    (CREDENTIAL, _names_credential),
    (HOST, lambda text: bool(_HOST.search(text))),
    (CHECK, _switches_off),
)
