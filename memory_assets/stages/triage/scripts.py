"""Finds orders to run a script by its path: `./vendor/setup`, `node tools/x.js`, "run the script in
tools/setup".

Takes a text without markup. A path counts where a command begins, behind a program that runs files,
behind a verb such as "run", and before words such as "must be run". The argument of another program
(`pytest tests/unit`) does not count.
"""

from collections.abc import Iterator, Sequence

_RUNNERS = frozenset(
    "bash sh zsh dash ksh fish source . exec sudo env nohup time xargs node nodejs deno bun tsx "
    "ts-node npx python python2 python3 py pypy ipython perl ruby php lua rscript pwsh powershell "
    "cmd java osascript wine && || | ;".split()
)
"""Programs that run the file that is named to them, and signs between commands."""

_VERBS = frozenset(
    "run runs running rerun execute executes executing invoke invoking launch launching "
    "call calling".split()
)
_WEAK_VERBS = frozenset("use using via with through start starting".split())
"""What follows them is run if it is written like a command."""

_BETWEEN = frozenset(
    "a an the this that our your my new own always first then also just please".split()
)
_NOUNS = frozenset(
    "script scripts file program helper binary executable installer setup hook".split()
)
_PLACES = frozenset("in at from under inside".split())
_BEGINS = frozenset("then first always please just do".split())
_PASSIVE = frozenset("run executed called invoked launched started".split())
_AUXILIARIES = frozenset(
    "must should shall has have had needs need ought is are gets be to been always first "
    "also only".split()
)
_MANY = frozenset("test tests check checks suite suites job jobs build builds".split())
"""Words before which a slash separates two of a kind: "unit/integration tests"."""

_SHELL = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd")
_EXTENSIONS = (
    *_SHELL, ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".py", ".pyz", ".pl", ".rb", ".php",
    ".lua", ".jar", ".exe", ".run",
)  # fmt: skip
_DATA = (
    ".md", ".txt", ".json", ".toml", ".yaml", ".yml", ".sql", ".css", ".html", ".csv", ".ini",
    ".cfg", ".lock", ".log", ".xml"
)  # fmt: skip
_HERE = ("./", "../", "~/", "/", ".\\", "$")
"""How a command is written that is no program of the PATH; `/simplify` alone is a command of a
harness.
"""


def scripts_run(text: str) -> Iterator[str]:
    """Yields the text before each script that the text tells to run."""
    raw = text.split()
    words = [
        word.strip("\"'()[]{}<>").rstrip(".,;:!?\"')") if word != "." else word for word in raw
    ]
    for at, word in enumerate(words):
        if _is_path(word) and _is_run(words, raw, at):
            yield " ".join(raw[:at])


def _is_path(word: str) -> bool:
    is_file = "/" in word or "\\" in word or word.lower().endswith(_EXTENSIONS)
    is_harness_command = word.startswith("/") and "/" not in word[1:]
    is_name = (
        word[:1] not in "-@#:0123456789" and not word.endswith("/") and any(map(str.isalpha, word))
    )
    return is_file and is_name and "//" not in word and not is_harness_command


def _is_run(words: Sequence[str], raw: Sequence[str], at: int) -> bool:
    """Returns whether the words around a path tell to run it."""
    before = at - 1
    while before >= 0 and (words[before].startswith("-") or "=" in words[before]):
        before -= 1
    if before >= 0 and words[before].lower() in _RUNNERS:
        return True
    verb = _verb_before(words, before)
    if verb in _VERBS:
        return not set(words[at + 1 : at + 2]) & _MANY
    file = words[at].lower()
    sign = raw[before][-1] if before >= 0 else "."
    is_command = file.startswith(_HERE) and not file.endswith(_DATA)
    is_beginning = sign in ".,:;" or words[before].lower() in _BEGINS
    if is_command and (is_beginning or verb in _WEAK_VERBS):
        return True
    return (file.endswith(_SHELL) and (sign == ":" or verb in _WEAK_VERBS)) or _is_run_after(
        words[at + 1 :]
    )


def _verb_before(words: Sequence[str], place: int) -> str:
    """Returns the last word up to this place that is no article, option or adverb, and not "the
    script in".
    """
    if place > 0 and words[place].lower() in _PLACES and words[place - 1].lower() in _NOUNS:
        place -= 1
    while place >= 0 and (
        words[place].lower() in _BETWEEN | _NOUNS or words[place].startswith("-")
    ):
        place -= 1
    return words[place].lower() if place >= 0 else ""


def _is_run_after(words: Sequence[str]) -> bool:
    """Returns whether the words after a path say that it is to be run."""
    for number, word in enumerate(words):
        if word.lower() not in _AUXILIARIES:
            return number > 0 and word.lower() in _PASSIVE
    return False
