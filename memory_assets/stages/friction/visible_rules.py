"""Reads from a sentence the rule that tool calls can show to be kept or broken.

Five kinds can be seen: run one program and never another, never run a command, run one before
another, run a command only with an option, and never edit a file. A sentence about anything else,
or with a condition that calls do not show ("unless I ask"), gives no rule.
"""

import re
import shlex
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product

from memory_assets.english.hedges import is_doubtful
from memory_assets.stages.embed.names import listed_programs
from memory_assets.stages.friction.commands import CommandStep
from memory_assets.stages.friction.shell_calls import VALUED, ShellCall, is_script_run
from memory_assets.text.patterns import data_beside, patterns_beside
from memory_assets.text.words import squeezed, word_set

EVERYDAY_WORDS = word_set("""true false test set wait read time find type which cut less more do
    done file date touch kill go make just task man info watch open code at host fly now sort split
    join head tail cat echo source export history exec command node as in up top who last look
    install script env if for then while till write mesg link dig nice yes clear reset sleep patch
    tree black""")
"""Programs that are also English words: "not true" forbids no program."""

_PATTERNS = patterns_beside(__file__)
_NAMES = data_beside(__file__)
_ASIDE = re.compile(r"(?<=\bnot), [^,]+, ")
"""What is put between a denial and its verb: "do not, ever, run"."""

_PUNCTUATION = re.compile(r"(?<=\w)[.:!,]+$")
_PLAIN_WORD = re.compile(r"[\w:.-]*\w$")
_SEQUENCES = ("first_then", "preceded", "occasion")
"""Orders without the word "before"."""


@dataclass(frozen=True)
class CommandPattern:
    """A program with the words behind it, and what else its call must have."""

    words: tuple[str, ...]
    """The program (`*`: any), and the first plain words."""
    needs: tuple[str, ...] = ()
    """Options, their values, and variables."""
    is_sure: bool = field(default=True, compare=False)
    """Whether the sentence marks it as a command, or its program is a known one."""

    @property
    def text(self) -> str:
        """The command as it begins, with what it needs."""
        return " ".join((*self.words, *self.needs))

    def matches(self, call: ShellCall) -> bool:
        """Returns whether the call runs it, with all that it needs."""
        program, *words = self.words
        is_program = program in ("*", call.program)
        given = _plain_words(call)[: len(words)]
        if program == "*":
            # A script such as `test:unit` is one of that name.
            given = [word.partition(":")[0] for word in given]
        is_named = is_program and given == words
        is_help = "--help" in call.words or "help" in call.words[1:2]
        return is_named and not is_help and self.has_all(call, self.needs)

    def has_all(self, call: ShellCall, needs: Iterable[str]) -> bool:
        """Returns whether the call has the options, values and variables, short or long."""
        return all(any(map(call.has, self._spellings(need))) for need in needs)

    def _spellings(self, need: str) -> list[str]:
        """Returns the option as it is written short and long."""
        options = _NAMES["options"]
        named = [options.get(" ".join(self.words[:count]), ()) for count in (1, 2)]
        pairs = [pair.split() for pairs in named for pair in pairs]
        same = [word for pair in pairs if need in pair for word in pair]
        is_forced_ref = need in ("--force", "-f") and self.words == ("git", "push")
        return [need, *same, *(["+"] if is_forced_ref else [])]

    @property
    def without_needs(self) -> "CommandPattern | None":
        """The same command without its options, which may be run; None if it has none."""
        return replace(self, needs=()) if self.needs else None


Commands = tuple[CommandPattern, ...]
NEAR = 40
"""Characters between a denial and what it denies, at most."""

_EDIT_WORDS = ("denies", "edits")
_COMMANDS = ("forbidden", "preferred", "launchers", "first", "then")
"""The fields of a rule that are commands."""

LONGEST_SENTENCE = 1_000
"""Characters of what may be a rule."""


@dataclass(frozen=True)
class VisibleRule:
    """What tool calls must show, or must not."""

    forbidden: Commands = ()
    """Commands that break it."""
    preferred: Commands = ()
    """What is to be run instead."""
    launchers: Commands = ()
    """What may run the forbidden commands."""
    first: Commands = ()
    """What must have run before one of `then`."""
    first_files: tuple[str, ...] = ()
    """Files that must have been edited before one of `then`."""
    then: Commands = ()
    required: tuple[str, ...] = ()
    """Options that each of `then` must have."""
    files: tuple[str, ...] = ()
    """Files that must not be edited."""
    is_of_existing: bool = False
    """Whether new files in these places may be written."""
    is_each: bool = False
    """Whether each of `then` needs a run of `first` of its own."""
    is_again: bool = False
    """Whether an edit after `first` makes another run necessary."""
    must_pass: bool = False
    place: str = ""
    """The folder or project that it is about; empty for all."""

    def among(self, programs: Container[str]) -> "VisibleRule | None":
        """Returns the rule without the words that may be no commands, as none of the programs has
        their name; None if nothing is left that can be kept or broken.
        """

        def understood(commands: Commands) -> Commands:
            """Returns those that surely are commands, or that run."""
            return tuple(each for each in commands if each.is_sure or each.words[0] in programs)

        rule = replace(self, **{name: understood(getattr(self, name)) for name in _COMMANDS})
        is_order = rule.then and (rule.first or rule.first_files or rule.required)
        return rule if rule.files or rule.forbidden or is_order else None


@lru_cache(maxsize=65_536)
def read_rule(sentence: str) -> VisibleRule | None:
    """Returns the rule of the sentence; None if no tool call can show it."""
    if len(sentence) > LONGEST_SENTENCE:
        return None
    plain = _ASIDE.sub(" ", squeezed(sentence.replace("’", "'")))
    plain = _PATTERNS["emphasis"].sub("never", plain)
    text = _PATTERNS["allowed"].sub("", plain).strip()
    if _PATTERNS["hidden"].search(text) or is_doubtful(text):
        return None
    place = _PATTERNS["elsewhere"].search(text)
    elsewhere = squeezed(text.replace(place.group(), "").lstrip(", ")) if place else text
    readers = (_order_rule, _launcher_rule, _option_rule, _choice_rule)
    rule = _file_rule(text) or next(filter(None, (read(elsewhere) for read in readers)), None)
    if rule and place and not rule.files:
        return replace(rule, place=next(filter(None, place.groups())).strip("/"))
    return rule


def _file_rule(text: str) -> VisibleRule | None:
    """Returns the rule that forbids edits of files that a clause or the one before names."""
    clauses = _PATTERNS["clause"].split(text)
    named: list[str] = []
    for clause in clauses:
        has_option = _PATTERNS["option"].search(clause)
        named = [] if has_option else list(_paths(clause)) or named
        if named and _forbids_edits(clause):
            at_root = [f"./{path}" for path in named] if "root" in text.split() else named
            is_of_existing = bool(_PATTERNS["existing"].search(text))
            ways = map(_PATTERNS["instead"].search, clauses)
            preferred = [command for way in ways if way for command in _commands(way["rest"])]
            return VisibleRule(
                files=tuple(at_root), preferred=tuple(preferred), is_of_existing=is_of_existing
            )
    return None


def _forbids_edits(clause: str) -> bool:
    """Returns whether a denial stands near a word for an edit."""
    pairs = product(*(_PATTERNS[name].finditer(clause) for name in _EDIT_WORDS))
    return any(abs(denial.start() - edit.start()) <= NEAR for denial, edit in pairs)


def _paths(clause: str) -> Iterator[str]:
    named = list(_PATTERNS["path"].finditer(clause))
    for path in named:
        yield (path["quoted"] or path["plain"]).rstrip(".")
    for words, paths in _NAMES["files"].items():
        if not named and re.search(rf"(?i)\b(?:{words})\b", clause):
            yield from paths


def _order_rule(text: str) -> VisibleRule | None:
    for name in ("opening_before", "never_without", "before", "only_after", *_SEQUENCES):
        order = _PATTERNS[name].match(text)
        if order is None:
            continue
        is_edit = _PATTERNS["changes"].match(order["first"])
        files = tuple(_paths(order["first"])) if is_edit else ()
        inside = _PATTERNS["inside"].search(order["first"])
        named = _commands(inside["rest"]) if inside else ()
        first = () if files else named or _commands(order["first"])
        then = _commands(order["then"])
        if then and (first or files):
            return VisibleRule(
                first=first,
                first_files=files,
                then=then,
                is_each=bool(_PATTERNS["each"].match(order["then"])),
                is_again=bool(_PATTERNS["again"].search(text)),
                must_pass=bool(_PATTERNS["passes"].search(order["first"])),
            )
    return None


def _launcher_rule(text: str) -> VisibleRule | None:
    through = _PATTERNS["through"].match(text)
    named = through and (through["launcher"] or through["late"])
    if not through or not named or _PATTERNS["option"].match(named):
        return None
    launchers = _commands(named)
    commands = _commands(through["command"])
    is_rule = launchers and commands
    return VisibleRule(forbidden=commands, launchers=launchers) if is_rule else None


def _option_rule(text: str) -> VisibleRule | None:
    for name in ("denied_without", "always", "given", "required"):
        sentence = _PATTERNS[name].match(text)
        commands = _commands(sentence["command"]) if sentence else ()
        needs = _options(sentence["means"]) if sentence and commands else ()
        if needs:
            return VisibleRule(then=commands, required=needs)
    return _exact_rule(text) or _general_option_rule(text)


def _general_option_rule(text: str) -> VisibleRule | None:
    """Returns the rule about the one command and the one option that the sentence names."""
    option = _PATTERNS["option"].search(text)
    if option is None or len(_PATTERNS["option"].findall(text)) > 1:
        return None
    needs = _options(text)
    others = f"{text[: option.start()]}{text[option.end() :]}"
    starts = [verb.end() for verb in _PATTERNS["runs"].finditer(others)]
    named = (_commands(others[start:], is_whole=True)[:1] for start in starts)
    commands = next(filter(None, named), ())
    if commands and _PATTERNS["denied"].search(text):
        denied = VisibleRule(forbidden=(replace(commands[0], needs=needs),))
        return _choice_rule(text) or denied
    is_rule = commands and _PATTERNS["optional"].search(text)
    return VisibleRule(then=commands, required=needs) if is_rule else None


def _exact_rule(text: str) -> VisibleRule | None:
    """Returns the rule of a sentence that gives the whole command in brackets."""
    inside = _PATTERNS["inside"].search(text)
    general = _commands(text)[:1]
    for exact in _commands(inside["rest"])[:1] if inside else ():
        if (exact.without_needs,) == general:
            return VisibleRule(then=general, required=exact.needs)
    return None


def _options(text: str) -> tuple[str, ...]:
    options = _PATTERNS["option"].search(text)
    return tuple(_split((options["quoted"] or options["plain"]).rstrip("."))) if options else ()


def _choice_rule(text: str) -> VisibleRule | None:
    forbidden: list[CommandPattern] = []
    preferred: list[CommandPattern] = []
    earlier = ""
    for clause in _PATTERNS["clause"].split(text):
        if _PATTERNS["denial"].match(clause):
            forbidden += _commands(earlier, is_whole=True)
        earlier = clause
        is_first = not (forbidden or preferred)
        denied, chosen = _choices_in(clause, tuple(preferred), is_first=is_first)
        forbidden += denied
        preferred += chosen
    others = dict.fromkeys(command for command in preferred if command not in forbidden)
    rule = VisibleRule(forbidden=tuple(forbidden), preferred=tuple(others))
    return rule if forbidden else None


def _choices_in(clause: str, preferred: Commands, *, is_first: bool) -> tuple[Commands, Commands]:
    """Returns the commands that the clause forbids, and those that it prefers."""
    behind = _PATTERNS["denied_behind"].match(clause)
    commands = _commands(behind["rest"], is_whole=True) if behind else ()
    denied = _PATTERNS["denied"].search(clause)
    if commands:
        return commands, ()
    if denied:
        chosen = _commands(clause[: denied.start()]) or preferred
        return _denied_commands(denied["rest"], chosen), chosen
    used = _PATTERNS["preferred"].search(clause)
    is_command = is_first or _PATTERNS["name"].fullmatch(clause)
    rest = clause if is_command else ""
    return (), _commands(used["rest"] if used else rest)


def _denied_commands(rest: str, chosen: Commands) -> Commands:
    """Returns the commands behind a denial; beside one chosen program an everyday word is one."""
    means = _PATTERNS["means"].search(rest)
    by_means = _commands(means["rest"], is_whole=True) if means else ()
    is_contrast = len(chosen) == 1 and len(chosen[0].words) == 1
    word = _PATTERNS["name"].match(rest) if is_contrast else None
    if by_means or not word:
        return by_means or _commands(rest, is_whole=True)
    is_sure = chosen[0].is_sure or word.group() in listed_programs()
    return (CommandPattern((word.group(),), is_sure=is_sure),)


def _commands(fragment: str, *, is_whole: bool = False) -> Commands:
    """Returns the commands that the words begin with, or that they name in backticks or brackets.

    With `is_whole`, git's verbs count only without an object: neither "never commit secrets" nor
    "secrets are not committed" forbids a command.
    """
    verb = _PATTERNS["verb"].match(fragment.strip())
    rest = fragment.strip()[verb.end() if verb else 0 :]
    is_run = bool(verb and _PATTERNS["run"].search(verb.group()))
    commands: list[CommandPattern] = []
    while rest:
        named = _named(rest, is_whole=is_whole)
        command = _PATTERNS["command"].match(rest)
        if named:
            end, patterns = named
            commands += patterns
        elif command:
            end = command.end()
            is_sure = is_run or bool(_PATTERNS["run_behind"].match(rest, end))
            commands += filter(None, [_pattern(command.group(), is_sure=is_sure)])
        else:
            break
        joined = _PATTERNS["joined"].match(rest, end)
        rest = _PATTERNS["verb"].sub("", rest[joined.end() :]) if joined else ""
    marked = _PATTERNS["marked"].search(fragment)
    if marked:
        commands += filter(None, [_pattern(marked["rest"])])
    if not commands:
        inside = _PATTERNS["inside"].search(fragment)
        quoted = re.findall(r"`[^`]+`", fragment)
        texts = quoted or ([inside["rest"]] if inside else [])
        commands += filter(None, map(_pattern, texts))
    return tuple(dict.fromkeys(commands))


def _named(text: str, *, is_whole: bool) -> tuple[int, list[CommandPattern]] | None:
    """Returns the commands that a name in prose stands for ("the tests"), and where it ends."""
    for words, commands in _NAMES["commands"].items():
        name = re.match(rf"(?i)(?:{words})(?![\w`/-]|\.\w| --?\w)", text)
        is_alone = name and _PATTERNS["whole"].match(text[name.end() :])
        if name and is_whole and (name.group().endswith("ed") or not is_alone):
            return name.end(), []
        if name:
            patterns = filter(None, (_pattern(f"`{command}`") for command in commands))
            branch = _PATTERNS["branch"].search(text)
            needs = branch.groups() if branch and "push" in words else ()
            return name.end(), [replace(each, needs=each.needs + needs) for each in patterns]
    return None


def _pattern(text: str, *, is_sure: bool = False) -> CommandPattern | None:
    """Returns the command as a pattern; None for an everyday word that no quotes mark as one."""
    is_quoted = text.startswith("`")
    words = _split(text.strip("`() "))
    if not words or not words[0] or words[0].startswith("-"):
        return None
    if not is_quoted:
        words[0] = words[0][0].lower() + words[0][1:]
        if len(words) == 1 and words[0] in EVERYDAY_WORDS:
            return None
    step = CommandStep(tuple(words))
    is_known = is_quoted or step.program in listed_programs() or "/" in words[0]
    plain = [step.program]
    needs: list[str] = []
    for word in step.arguments:
        is_option = word.startswith("-") or bool(needs)
        if is_option or word == ".":
            needs.append(word)
        elif _PLAIN_WORD.match(word) and not is_script_run(step, word):
            plain.append(word)
    return CommandPattern(tuple(plain), tuple(needs), is_sure or is_known)


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return [_PUNCTUATION.sub("", word) for word in words]


def _plain_words(call: ShellCall) -> list[str]:
    """Returns the words but for options, their values in front, and the `run` of a script."""
    plain: list[str] = []
    is_value = False
    for word in call.arguments:
        is_option = word.startswith("-")
        if not (is_option or is_value or is_script_run(call, word)):
            plain.append(word)
        is_value = is_option and word in VALUED and not plain
    return plain
