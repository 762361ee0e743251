"""Finds proposals that only a person can approve: downloads, credentials, hosts, disabled checks,
scripts, added packages.

Takes the text of a proposal; returns the reason, or None. A line of MEMORY.md is an instruction for
every later session, and the owner's turns also contain text that others wrote. An attack by such
text needs one of these: code from elsewhere, fetched, in a repository or in a package, a key, an
address to send it to, or a check that does not run. In doubt the proposal waits for a person.
"""

import re
import unicodedata
from collections.abc import Collection

from memory_assets.stages.triage.own_hosts import without_hosts
from memory_assets.stages.triage.scripts import scripts_run

DOWNLOAD = "names a download"
CREDENTIAL = "touches a credential"
HOST = "names a host or address"
CHECK = "switches a check off"
SCRIPT = "runs a script by its path"
PACKAGE = "adds a package"


def sensitive_reason(text: str, own_hosts: Collection[str] = ()) -> str | None:
    """Returns why only a person can approve the text, or None; `own_hosts` are those that the
    owner's own commands name.
    """
    plain = _plain(text)
    rest = without_hosts(_HARMLESS.sub(" ", plain), own_hosts)
    kinds = [kind for kind, is_in in _KINDS if is_in(rest)]
    kinds += [kind for kind, is_in in _ORDERS if is_in(plain)]
    return f"{' and '.join(kinds)}: only a person can approve this" if kinds else None


def names_host(text: str) -> bool:
    """Returns whether the text names a host or address."""
    return bool(_HOST.search(_HARMLESS.sub(" ", _plain(text))))


def _plain(text: str) -> str:
    """Returns the text without markup and invisible characters, with full-width letters as plain
    ones.
    """
    visible = "".join(
        char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf"
    )
    return _SPACE.sub(" ", _MARKUP.sub("", visible.replace("’", "'")))


_SPACE = re.compile(r"\s+")
_MARKUP = re.compile(r"`|(?<!\*)\*{1,3}(?!\*)")
_HARMLESS = re.compile(
    r"(?i)(?<![\w@.:/-])(?:https?://)?example\.(?:com|org|net)(?![\w@:/-]|\.\w)"
    r"|(?<![\w/.])(?:\.\.?/)+[\w.-]+(?![\w./:@-])"
    r"|\b(?:never|not|without) (?:ever )?(?:asks?|asking|prompts?|prompting) for (?:an? "
    r"|the |any )?"
    r"(?:password|credential|passphrase)s?\b"
    r"|\bno (?!need|problem|limit|reason|longer)(?:[\w-]+[ /,]+){0,4}downloads?\b"
    r"(?!.*\b(?:but|except|unless|only|instead)\b)"
)
"""Reserved names of hosts, relative paths of one step, and what says that no password is asked for
or nothing downloaded.
"""


def _any_of(*patterns: str, flags: int = re.I) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)


_DOWNLOAD = _any_of(
    r"\b(?:fetch|download|pull|get|grab)\b.{1,80}\b(?:and|then) (?:execute|run|source"
    r"|install|eval)\b",
    r"\b(?:uvx|bunx|pipx run|(?:pnpm|yarn) dlx|deno run|(?:docker|podman) run (?:-\S+ "
    r")*[\w.-]+/[\w./-]+)\b",
    r"\b(?:curl|wget|wget2|aria2c|lynx|httpie|iwr|irm|iex)\b|\bInvoke-(?:WebRequest"
    r"|RestMethod|Expression)\b",
    r"\bStart-BitsTransfer\b|\bcertutil\b|\burlretrieve\b",
    r"\bdownload",
    r"\b(?:git|gh repo|hg|jj git) clone\b|\bsvn (?:co|checkout)\b|\bgit submodule add\b"
    r"|\bdocker (?:image )?pull\b",
    # The package runners fetch a package and run it, in one command.
    r"\b(?:npx (?:-y|--yes)|(?:pnpm|yarn) dlx|bunx|pipx run|uv tool run)\s",
    # A package named to an installer comes from elsewhere; without a name, it installs the
    # dependencies of the project.
    r"\b(?:pip3?|pipx|uv(?: pip| tool)?|npm|pnpm|yarn|bun|gem|cargo|go|brew|apt|apt-get|dnf"
    r"|yum|apk|choco|winget|conda|"
    r"mamba) (?:install|add|i|get) (?:(?!--?(?:r|e|requirement|editable)\b)-\S+ )*(?!(?:in"
    r"|or|and|on|for|to|when|with|without|"
    r"from|directly|globally|before|after|it|the|a|an|any|your|inside|locally|here|again"
    r"|first|once|last|often|each|every|"
    r"then|than|also|at|under|must|should|can|will|instead|is|are|as|because|since|unless|if"
    r"|by|outside|never|not|only|"
    r"anything|packages?|dependenc\w+|everything)\b)@?[a-z]\w*(?!\w*\.(?:txt|toml|lock|json)\b)",
    # A shell that reads its program from a pipe or another process.
    r"\|\s*(?:sudo )?(?:(?:ba|z|da|k|fi)?sh|python3?|node|perl|ruby|php|pwsh|powershell)\b"
    r"|\b(?:ba|z)?sh <\(|"
    r"\bbase64 (?:-d|-D|--decode)\b",
)

_CREDENTIAL = _any_of(
    r"(?<![a-z])(?:passwords?|passwd|passphrases?|passcodes?|secrets?|credentials?|creds)(?![a-z])",
    # Tokens of a model or of a design system are no credentials.
    r"(?<![a-z])(?<!design )(?<!max )(?<!max_)token(?![a-z])(?! (?:count|budget|limit|usage"
    r"|window|stream)s?\b)",
    r"(?<![a-z])(?:access|refresh|auth|authentication|bearer|api|session|csrf|deploy|bot|id"
    r"|jwt|oauth|ci|registry|publish\w*|"
    r"github|gitlab|npm|pypi|slack|your|my|our|their|all|any|the|these)[ _-]tokens(?![a-z])",
    r"(?<![a-z])(?:api|access|private|signing|signature|encryption|deploy|ssh|gpg|pgp|ssl"
    r"|tls|master|service[- ]account|"
    r"account)[ _-]?keys?(?![a-z])",
    r"(?<![a-z])(?:bearer|jwt|2fa|mfa|otp|one-time code|seed phrase|(?:session|auth|login) "
    r"cookies?)(?![a-z])|\bAuthorization:",
    # Files and stores that hold keys; `process.env` and its like are code.
    r"(?<!process)(?<!meta)(?<!Deno)(?<!Bun)\.env(?:rc)?(?![a-z])|/etc/(?:passwd|shadow|sudoers)\b",
    r"\.(?:netrc|npmrc|pypirc|pgpass|htpasswd|git-credentials|ssh|aws|azure|gnupg|kube"
    r"|docker/config)\b",
    r"\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\b(?:authorized_keys|kubeconfig|keychain|keyring"
    r"|keystore)\b|\w\.(?:pem|p12|pfx|"
    r"jks|kdbx|keytab)\b",
    r"\b(?:docker|npm|yarn|az|gcloud|aws|gh|glab|heroku|fly|vercel|op|vault) (?:auth|login"
    r"|adduser|configure)\b|"
    r"\bprintenv\b|\bssh-(?:add|agent|keygen|copy-id)\b",
    r"\b(?:print|log|dump|echo|send|write|post|upload|paste)\w* (?:(?:all|the|your|our|its) "
    r")*(?:env\b|environment\b)",
    r"\bauthorization headers?\b",
    # Masked by capture.
    r"\*{4,}",
)

_DOMAINS = (
    "com|org|net|edu|gov|mil|io|tools|click|pub|world|dev|ai|co|cloud|xyz|tech|site|online"
    "|website|shop|blog|biz|icu|email|digital|internal|intranet|corp|lan|local|"
    "localdomain|onion|us|uk|eu|de|fr|nl|ch|cz|dk|fi|se|be|es|pt|ie|ca|au|nz|jp|cn|hk|tw|kr"
    "|br|mx|ru|ua|su|tr|za|sg|il|tk|gq|ga|ws|gg|fm|tv"
)
"""Top-level domains that are rarely extensions of files or attributes in code."""

_ALSO_DOMAINS = (
    "app|run|live|store|link|page|host|space|work|info|name|top|team|chat|news|zip|mov|cf|ml"
    "|sh|rs|py|pl|md|cc|so|to|me|is|id|"
    "it|in|at|by|la|st|ms|no|am|ac|im|ly|re|li|lu|ro|hu|gr|pw|cx|nu|vc"
)
"""Top-level domains that are also extensions and attributes (`install.sh`, `request.user.id`); they
need a path or a port.
"""

_HOST_NOUN = (
    r"(?:host(?:name)?|server|machine|domain|site|website|mirror|registry|proxy|endpoint|bucket"
    r"|gateway|remote)"
)

_HOST = _any_of(
    r"://\S|\bwww\.\w|\bmailto:",
    rf"(?<![\w-])(?<!\w\.)(?!asp\.net\b)(?:[a-z0-9][a-z0-9-]*\.)+(?:{_DOMAINS})(?![\w-])(?!\.\w)(?!\()",
    rf"(?<![\w./-])(?:[a-z0-9][a-z0-9-]*\.)+(?:{_ALSO_DOMAINS})(?:/\w|:\d{{2,5}}/)",
    rf"\b{_HOST_NOUN} (?:[a-z0-9][a-z0-9-]*\.)+(?:{_ALSO_DOMAINS}|app)(?!\w)",
    r"(?<![\w-])(?<!\w\.)(?:[a-z0-9][a-z0-9-]*\.){2,}app(?![\w-])(?!\.\w)",
    # Obfuscated, so that no link is made of it.
    r"\w ?(?:\[\.\]|\(\.\)|\[dot\]|\(dot\)) ?\w|\w dot (?:com|org|net|io|dev)\b",
    # Four numbers after a version sign are a version.
    r"(?<![\w.=<>~^@-])(?<!version )(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d"
    r"|1?\d?\d)(?![\w.-]*\w)",
    r"(?<![\w:])(?=[0-9a-f:]*\d)(?:(?:[0-9a-f]{1,4}:){1,6}:[0-9a-f]{0,4}|::[0-9a-f]{1,4}|"
    r"(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4})(?![\w:])",
    # `react@next` and `checkout@v4` are versions.
    r"(?<=[\w.+-])@(?!(?:latest|next|main|master|head|beta|alpha|canary|rc"
    r"|v?\d[\w.]*)\b)[a-z][\w-]*",
    # Two digits behind a colon are the tag of an image, or a line.
    r"(?<![\w./-])(?!(?:port|line|lines|error|code|exit|issue|status|width|height"
    r"|z-index):)[a-z][a-z0-9-]*:\d{3,5}(?![\w.])",
    r"(?<![\w./-])[a-z0-9][\w.-]+:(?:~|/[\w.])",
    # The value of such a variable or option is an address.
    r"\b[A-Z0-9_]*(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|ENDPOINT|PROXY|REGISTRY|MIRROR|INDEX"
    r"|URL|URI|DSN|ORIGIN|"
    r"REMOTE)S? ?= ?\S",
    r"--(?:[a-z]+-)*(?:host|hostname|server|proxy|registry|index-url|endpoint|url"
    r"|find-links)[= ]\S|--(?:mirror|remote)=\S",
    r"\bgit remote (?:add|set-url)\b|\binsteadOf\b",
    # In small letters it is the command; "ssh keys" and "ssh transport" name no machine.
    r"\b(?-i:ssh|sftp|telnet|nc|ncat|netcat|ping|nslookup|traceroute) (?:-\S+ "
    r")*(?:in)?(?:to )?(?!(?:is|and|or|keys?|for|over|"
    r"when|only|the|a|me|us|it|that|instead|config|access|in|to|with|by|as|from|are|can|must"
    r"|should|never|not|on|sessions?|"
    r"connections?|clients?|agents?|before|after|transports?|gateways?|sources?|process"
    r"|remotes?|urls?|tunnels?|"
    r"tests?)\b)[a-z\"$]",
    rf"\b(?:{_HOST_NOUN}|box|vm) (?:called |named |is |= ?|: ?)?(?!v\d|http\d)[a-z][a-z-]*-?\d+\b|"
    rf"\b{_HOST_NOUN} (?:called|named) \S",
)

_NOUN = (
    r"(?:(?:unit |type |smoke |integration |test )?tests?|test suites?|suite|ci|pipelines?"
    r"|lint(?:s|er|ers|ing)?|(?:git |"
    r"commit |pre-commit )?hooks?|pre-commit|sandbox(?:es|ing)?|permissions?(?: prompts?| "
    r"checks?)?|prompts?|approvals?|"
    r"confirmations?|(?:code |security )?reviews?|checks?|type[- ]?check(?:s|er|ing)?"
    r"|signatures?(?: checks?)?|verification|"
    r"certificates?|tls|ssl|validation|authentication|firewall|guards?|guardrails?|security"
    r"|safety|scan(?:s|ner|ning)?|audits?|"
    r"antivirus|branch protection)"
)
_SWITCH_OFF = (
    r"(?:skip(?:s|ped|ping)?|disabl(?:e|es|ed|ing)|deactivat(?:e|es|ed|ing)|bypass(?:es|ed"
    r"|ing)?|circumvent(?:s|ed|ing)?|"
    r"ignor(?:e|es|ed|ing)|"
    r"suppress(?:es|ed|ing)?|silenc(?:e|es|ed|ing)|overrid(?:e|es|ing)|(?:turn|switch)(?:s"
    r"|es|ed|ing)? off)"
)
_SOME = r"(?: [\w'/-]+){0,3}?"
"""Words between a verb and its object: "skip the slow tests"."""

_OFF = _any_of(
    r"--no-(?:verify|lint|hooks?|sandbox|gpg-sign|gpg-checks?|check-certificate|check|checks"
    r"|ssl|tls|audit|signature\w*|"
    r"strict-ssl)\b",
    r"\bgit commit (?:\S+ )*?-(?!-)[a-z]*n[a-z]*\b",
    r"--(?:dangerously|allow-unauthenticated|unsafe|insecure|trusted-host|privileged|yolo"
    r"|force-yes|auto-approve|allow-all|"
    r"full-auto|passWithNoTests)[\w-]*",
    rf"--(?:skip|disable|bypass|ignore)-(?:[a-z]+-)*{_NOUN}",
    r"\bdangerously[-_ ]?(?:skip|disable|bypass|allow)|\bbypassPermissions\b|\bacceptEdits\b"
    r"|\byolo\b|\bauto-?approve",
    r"\bverify(?:_ssl|_mode|_certs)? ?[=:] ?(?:False|0|none)\b|\bcheck_hostname ?= ?False\b"
    r"|\bCERT_NONE\b|"
    r"\b_create_unverified|\bInsecureSkipVerify\b|\brejectUnauthorized\b|\bNODE_TLS_REJECT"
    r"|\bSSL_?(?:NO_)?VERIFY\b|"
    r"\bsslVerify\b|\bstrict-ssl\b|\bStrictHostKeyChecking\b|\bHTTPSVERIFY\b|\b(?:curl"
    r"|wget)\b.* -k\b",
    r"\bset \+(?:e|o|u)|\|\| ?(?:true|:)(?!\w)|\bchmod (?:-R )?(?:[0-7]?777|[0-7]?666"
    r"|a\+rwx?|o\+w|ugo\+rwx)\b|"
    r"\bsetenforce 0\b|\bcommit\.gpgsign\b",
    r"\bufw disable\b|\biptables -F\b|\bHUSKY=0|\bSKIP=\w|\[(?:skip ci|ci skip|no ci)\]"
    r"|-DskipTests|\bskipTests\b|"
    r"\bcontinue-on-error\b|\ballow_failure\b",
    r"\beslint-disable|@ts-(?:ignore|nocheck)\b|# ?noqa\b|# ?nosec\b|# ?type: ignore"
    r"|\bnolint\b|\bcore\.hooksPath\b",
    rf"\b{_SWITCH_OFF}{_SOME} {_NOUN}\b",
    rf"\b(?:turn|switch)(?:s|es|ed|ing)? (?:[\w'-]+ ){{0,3}}?{_NOUN} (?:[\w'-]+ )?off\b",
    rf"\b{_NOUN}(?: [\w'-]+){{0,3}}? (?:off|disabled|skipped|bypassed|ignored|optional"
    r"|unnecessary|not needed|not required)\b",
    r"\bwithout(?: (?:running|waiting for|asking for|any|the|a|its|their|our|your|further"
    r"|passing|prior|"
    rf"going through)){{0,3}} {_NOUN}\b|\bwithout asking\b",
    r"\b(?:never|do not|don't|no need to|needn't|stop|no) (?:to )?(?:run(?:ning)?"
    r"|wait(?:ing)? for|ask(?:ing)?(?: me|"
    rf" us)? for|execute|enable|need(?: for)?)"
    rf"{_SOME} {_NOUN}(?= ?(?:$|[.,;:!)]|-|—|–| (?:before|when|at all|first|locally|anymore"
    r"|any more|here)\b))",
    r"\b(?:never|do not|don't|no need to|stop) ask(?:ing)?(?: me| us| the (?:user|owner))? "
    r"?(?:$|[.,;!]|first\b|before\b|"
    r"for (?:permission|approval|confirmation)\b)",
)

_PACKAGE_FILES = (
    r"(?:(?:dev|runtime|test|build|peer|optional)[ -]?)?(?:dependenc(?:y|ies)"
    r"|requirements(?:[\w-]*\.(?:txt|in))?)|"
    r"package\.json|pyproject(?:\.toml)?|setup\.(?:py|cfg)|environment\.ya?ml|cargo\.toml"
    r"|go\.mod|gemfile|pipfile|"
    r"composer\.json|pom\.xml|build\.gradle(?:\.kts)?|pubspec\.yaml|mix\.exs"
)
_PACKAGES = r"(?:package|library|module|plug-?in|extension|crate|gem|dependency)"
_NO_NAME = (
    r"(?!(?:the|an?|any|all|no|new|more|further|other|every|each|our|your|its|only|if|when"
    r"|before|after|without|to|in|and|or|on|"
    r"with|for|by|is|that|from|first|again)\b)"
)
_GENERIC = r"(?:(?:an?|any|all|no|new|more|further|other|the|these|missing|every|each) )*"
_PACKAGE = _any_of(
    r"\b(?:add|put|include|install|insert|pull|bring)(?:s|ing)? "
    rf"(?!{_GENERIC}{_PACKAGES}s?\b|{_GENERIC}dependencies\b)"
    rf"(?:[\w@./+-]+,? ){{1,5}}?(?:to|in|into|as|among|under) (?:[\w'.-]+ "
    rf"){{0,3}}?(?:{_PACKAGE_FILES})(?![\w-])",
    r"(?:^|[.:;,!] ?|\b(?:always|must|should|shall|to|please|then|just) )depend on (?!(?:it"
    r"|this|that|them|each|one)\b)\S",
    r"\b(?:use|make|take|want|require)\b.{1,60} (?:as )?an? (?:[\w-]+ ){0,2}dependency\b",
    rf"\b(?:install|add|require) (?:the |an? )?{_NO_NAME}@?[\w./-]+ {_PACKAGES}\b",
    rf"\b(?:install|add|require) (?:the |an? )?{_PACKAGES} {_NO_NAME}\S",
    r"\b(?:poetry|pdm|rye|pixi|hatch|bundle|composer|deno|mix|dotnet|cpanm?|luarocks|nuget"
    r"|conan|vcpkg|code) (?:-\S+ )*"
    rf"(?:add|require|install|--install-extension) (?:package )?{_NO_NAME}[@\w]",
)

_FORBIDDEN = re.compile(
    r"(?i)\b(?:never|do not|don't|must not|may not) (?:(?:ever|use|pass|run|add|set|call"
    r"|commit|push|merge|execute|with|git|"
    r"the|any|a|to|by|script) )*$"
)
"""Text before what is forbidden: "never commit with --no-verify" disables nothing."""

_FORBIDDEN_WITHOUT = re.compile(
    r"\b(?:never|do not|don't|must not|may not|cannot|can't)\b[^.;:]*$", re.I
)
"""Text before "without running the tests" if the tests must run."""

_EXCEPT = re.compile(r"\b(?:unless|except|but|instead|if|only|fail to|forget to)\b", re.I)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


def _switches_off(text: str) -> bool:
    """Returns whether the text switches a check off and does not forbid that."""
    return any(not _is_forbidden(text, found) for found in _OFF.finditer(text))


def _runs_script(text: str) -> bool:
    """Returns whether the text tells to run a script by its path, and does not forbid it."""
    return any(
        _EXCEPT.search(text) or not _FORBIDDEN.search(f"{before} ") for before in scripts_run(text)
    )


def _adds_package(text: str) -> bool:
    """Returns whether the text tells to add a package, and does not forbid it."""
    return any(not _is_forbidden(text, match) for match in _PACKAGE.finditer(text))


def _is_forbidden(text: str, found: re.Match[str]) -> bool:
    before = text[: found.start()]
    if _EXCEPT.search(text):
        return False
    return bool(
        _FORBIDDEN.search(before)
        or (found[0].lower().startswith("without") and _FORBIDDEN_WITHOUT.search(before))
    )


_KINDS = (
    (DOWNLOAD, lambda text: bool(_DOWNLOAD.search(text))),
    # Also within a name in code: `accessToken`, `DB_PASSWORD`.
    (
        CREDENTIAL,
        lambda text: bool(_CREDENTIAL.search(text) or _CREDENTIAL.search(_CAMEL.sub(" ", text))),
    ),
    (HOST, lambda text: bool(_HOST.search(text))),
    (CHECK, _switches_off),
)
_ORDERS = ((SCRIPT, _runs_script), (PACKAGE, _adds_package))
"""They are about paths and names, also those that are harmless otherwise."""
