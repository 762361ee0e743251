"""Measures the structure of the package and prints it: `make structure`.

Each figure says how it is counted where it is computed. Lines of code leave out blank lines,
comments and docstrings, and are counted after `ruff format --line-length 88` on a copy, so that
long lines cannot hide them. `test_structure.py` holds every figure at what has been reached.
"""

import ast
import functools
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "memory_assets"
TESTS = Path(__file__).resolve().parent
DATA = frozenset({".css", ".html", ".json", ".md", ".toml", ".ts"})
WIDTH = 88
"""Columns at which lines are counted: the default of ruff."""

TESTS_WIDTH = 128
"""Columns at which lines of tests are counted: they were written at it."""

ORDER = (
    "definitions",
    "extras",
    "interfaces",
    "memory",
    "assets",
    "runs",
    "services",
    "stages.maintain",
    "stages.brief",
    "stages.triage",
    "stages.friction",
    "stages.reflect",
    "stages.recall",
    "stages.verify",
    "stages.embed",
    "stages.distill",
    "stages.capture",
    "stages.deliver",
    "harnesses",
    "store",
    "adapters",
    "english",
    "schema",
    "text",
    "errors",
)
"""Folders and root modules from the top to the bottom; imports point down."""

UPWARD_EXCEPTION = ("runs.launch", "definitions")
"""The launcher runs the assembled definitions."""

BEHIND_FACADE = ("assets", "runs", "services", "stages", "store", "adapters")
"""What interfaces reach through `memory` alone."""

VAGUE = frozenset("one found kept known said own left told gone made before".split())
"""Names that do not say what they hold."""

_UNFINISHED_RECALL = (
    "answering cited_answer excerpt exchange log lookups needs parsed_question query "
    "query_coverage rerank speakers summaries tiers wording"
)
UNFINISHED = (
    *(f"stages/recall/{name}.py" for name in _UNFINISHED_RECALL.split()),
    "stages/distill/model/",
    "stages/distill/rules/signals.py",
    "stages/friction/",
)
"""Files whose insides are rewritten with what they do: recall and the answers, then distilling,
merging and friction. Until then they count apart; a part that is rewritten leaves the list.
"""

WORDED = ("english", "harnesses", "stages", "text")
"""Folders that read what people wrote."""

MASKING = "text/masking/"
"""Patterns of secrets are data of their own and count apart."""

MOST_BRANCHES = 12


@dataclass(frozen=True)
class Module:
    """One module of the package: its name without the package's own, and its source at `WIDTH`."""

    name: str
    path: str
    source: str

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The parsed source."""
        return ast.parse(self.source)

    @property
    def is_unfinished(self) -> bool:
        """Whether its insides are left as they are for now."""
        return self.path.startswith(UNFINISHED)


@dataclass(frozen=True)
class Habits:
    """What makes modules hard to read, counted."""

    branching: list[str]
    """Functions with more than `MOST_BRANCHES` branches."""
    conditions: int
    """Conditions that assign with a walrus operator."""
    tuples: int
    """Assignments of a tuple of values to a tuple of names."""
    nested: int
    """Comprehensions inside comprehensions."""
    vague: int
    """Names of `VAGUE` that functions store or take."""
    names: int
    """All names that functions store or take."""


@dataclass(frozen=True)
class Structure:
    """What was measured of the package."""

    root_modules: list[str]
    circles: list[list[str]]
    unplaced: list[str]
    upward: list[tuple[str, str]]
    past_facade: list[tuple[str, str]]
    code_lines: int
    core_lines: int
    """Lines of code but for those of `extras/`."""
    longest_file: tuple[str, int]
    longest_function: tuple[str, int]
    finished: Habits
    unfinished: Habits
    alternatives: int
    masking_alternatives: int
    classes_twice: list[str]
    repeated_files: dict[str, int]
    undocumented: list[str]
    definitions: int


def measure(package: Path = PACKAGE) -> Structure:
    """Reads every module of the package and returns its structure."""
    modules = read_modules(package)
    names = {module.name for module in modules}
    imports = {
        module.name: set(_imports(module.tree, package.name, names)) - {module.name}
        for module in modules
    }
    pairs = [(a, b) for a, others in sorted(imports.items()) for b in sorted(others)]
    lengths = {module.name: count_code(module.source) for module in modules}
    functions = dict(function_lengths(modules))
    documented = [
        (f"{module.name}.{name}", has_one)
        for module in modules
        for name, has_one in _documented(module.tree)
    ]
    longest_file = max(lengths, key=lambda name: lengths[name])
    longest_function = max(functions, key=lambda name: functions[name], default="")
    return Structure(
        root_modules=sorted(module.name for module in modules if "/" not in module.path),
        circles=find_circles(imports),
        unplaced=sorted(name for name in names if _level(name) is None),
        upward=[pair for pair in pairs if _points_up(*pair)],
        past_facade=[pair for pair in pairs if _passes_facade(*pair)],
        code_lines=sum(lengths.values()),
        core_lines=sum(lines for name, lines in lengths.items() if not _is_optional(name)),
        longest_file=(longest_file, lengths[longest_file]),
        longest_function=(longest_function, functions.get(longest_function, 0)),
        finished=measure_habits(module for module in modules if not module.is_unfinished),
        unfinished=measure_habits(module for module in modules if module.is_unfinished),
        alternatives=sum(count_file(path) for path in _worded(package) if not _masks(path)),
        masking_alternatives=sum(count_file(path) for path in _worded(package) if _masks(path)),
        classes_twice=find_classes_twice(modules),
        repeated_files=find_repeated_files(modules),
        undocumented=[name for name, has_docstring in documented if not has_docstring],
        definitions=len(documented),
    )


def read_modules(package: Path) -> list[Module]:
    """Returns every module, formatted at `WIDTH`; the package itself is `__init__`."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / package.name
        for path in package.rglob("*.py"):
            target = copy / path.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text("utf-8"), "utf-8")
        format_at(copy, WIDTH)
        return [_read_module(path, copy) for path in sorted(copy.rglob("*.py"))]


def _read_module(path: Path, package: Path) -> Module:
    relative = path.relative_to(package)
    parts = relative.with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return Module(".".join(parts), relative.as_posix(), path.read_text("utf-8"))


def format_at(folder: Path, width: int, *options: str) -> None:
    """Formats the folder in place, with no configuration but this width and these options."""
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated"]
    subprocess.run([*ruff, "--line-length", str(width), *options, str(folder)], check=True)


def count_code(source: str) -> int:
    """Returns the lines that hold code: no blank lines, comments or docstrings."""
    skipped = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if _is_docstring(node):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _is_docstring(node: ast.AST) -> bool:
    """Whether it is a string that is a statement of its own: of a module, class, function, or of
    the constant above it.
    """
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def function_lengths(modules: Iterable[Module]) -> Iterator[tuple[str, int]]:
    """Yields each function with its lines from `def` to its end, docstring included."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module.name}.{node.name}", (node.end_lineno or 0) - node.lineno + 1


def measure_habits(modules: Iterable[Module]) -> Habits:
    """Counts over these modules what makes them hard to read."""
    branching: list[str] = []
    conditions = tuples = nested = vague = names = 0
    for module in modules:
        branching += find_branching(module)
        for node in ast.walk(module.tree):
            conditions += _assigning_conditions(node)
            tuples += _is_tuple_assignment(node)
            nested += _is_nested(node)
        stored = Counter(stored_names(module.tree))
        names += stored.total()
        vague += sum(stored[name] for name in VAGUE)
    return Habits(branching, conditions, tuples, nested, vague, names)


def find_branching(module: Module) -> list[str]:
    """Returns the functions with too many branches, as `module.function (branches)`."""
    return [
        f"{module.name}.{node.name} ({branches})"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (branches := count_branches(node)) > MOST_BRANCHES
    ]


def count_branches(function: ast.AST) -> int:
    """Returns 1, and 1 for each `if`, loop, `except`, conditional expression, comprehension and its
    conditions, and further operand of `and` and `or`; functions inside it count for themselves.
    """
    count = 1
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        count += _branches_of(node)
        waiting += ast.iter_child_nodes(node)
    return count


_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case)


def _branches_of(node: ast.AST) -> int:
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))


def _assigning_conditions(node: ast.AST) -> int:
    conditions: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        conditions = [node.test]
    elif isinstance(node, ast.comprehension):
        conditions = node.ifs
    return sum(_has(condition, ast.NamedExpr) for condition in conditions)


def _is_tuple_assignment(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
    )


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _is_nested(node: ast.AST) -> bool:
    inside = ast.iter_child_nodes(node)
    return isinstance(node, _COMPREHENSIONS) and any(
        _has(part, *_COMPREHENSIONS) for part in inside
    )


def _has(tree: ast.AST, *kinds: type[ast.AST]) -> bool:
    return any(isinstance(node, kinds) for node in ast.walk(tree))


def stored_names(tree: ast.Module) -> Iterator[str]:
    """Yields each name that a function stores, and each of its parameters."""
    functions = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    inside = {id(part): part for function in functions for part in ast.walk(function)}
    for part in inside.values():
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.arg) and part.arg not in ("self", "cls"):
            yield part.arg


def count_file(path: Path) -> int:
    """Returns the alternatives of a module, or of a file of words and patterns."""
    text = path.read_text("utf-8")
    return count_alternatives(text) if path.suffix == ".py" else count_in_toml(text)


def count_in_toml(text: str) -> int:
    """Returns the lines of a file of words, but those of a pattern only with its alternatives."""
    lines = [line for line in _PATTERN.sub("", text).splitlines() if line and line[0] != "#"]
    patterns = [*lines, *_PATTERN.findall(text)]
    return len(lines) + sum(len(_BRANCH.findall(_CLASS.sub("", pattern))) for pattern in patterns)


def _worded(package: Path) -> list[Path]:
    """Returns the files in which words of a language may stand: elsewhere, lists are names of
    commands, columns and options.
    """
    paths = (path for suffix in ("py", "toml") for path in sorted(package.rglob(f"*.{suffix}")))
    return [path for path in paths if path.relative_to(package).parts[0] in WORDED]


def _masks(path: Path) -> bool:
    return MASKING in path.as_posix()


def count_alternatives(source: str) -> int:
    """Returns how many alternatives the patterns and word lists of a module have, each counted
    once, as it is written.

    These are the branches of every pattern that is compiled or holds a `|` outside of character
    classes, and each word of a `word_set` or of a text that is split into words.
    """
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    listed = {id(item) for node in ast.walk(tree) for item in _listed(node)}
    count = 0
    for node in ast.walk(tree):
        text = _text_of(node)
        if text is None or id(node) in documentation | parts:
            continue
        branches = len(_BRANCH.findall(_CLASS.sub("", text)))
        if branches:
            count += branches + 1
        elif id(node) in listed:
            count += len(text.split())
    return count


_CLASS = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]")
_BRANCH = re.compile(r"\|")
_PATTERN = re.compile(r"(?<== )'''\n((?:(?!''')[^|])*\|.*?)'''", re.S)


def _text_of(node: ast.AST) -> str | None:
    """Returns the text of a string, or of the fixed parts of an f-string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(filter(None, map(_text_of, node.values)))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _listed(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the items of a list of words, and the pattern or words that are given to a call that
    reads them.
    """
    if isinstance(node, ast.List | ast.Set | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key)
    elif isinstance(node, ast.Call):
        called = ast.unparse(node.func).split(".")[-1]
        if called in ("word_set", "stems_of", "compile"):
            yield from node.args[:1]


def find_classes_twice(modules: Iterable[Module]) -> list[str]:
    """Returns the names of classes that two modules define, those with a leading `_` left out."""
    homes = {
        (node.name, module.name)
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    count = Counter(name for name, _ in homes)
    return sorted(name for name, times in count.items() if times > 1)


def find_repeated_files(modules: Iterable[Module]) -> dict[str, int]:
    """Returns the file names that occur more than twice, but for those in `harnesses/*` and
    `extras/*`.
    """
    count = Counter(
        module.path.rpartition("/")[2]
        for module in modules
        if not re.match(r"(?:harnesses|extras)/", module.path)
    )
    return {
        name: times for name, times in sorted(count.items()) if times > 2 and name != "__init__.py"
    }


def count_words(folder: Path = ROOT / "docs") -> int:
    """Returns the words of the pages, but for the generated dictionary of tables."""
    pages = (path for path in folder.rglob("*.md") if path.name != "tables.md")
    return sum(len(path.read_text("utf-8").split()) for path in pages)


def count_data() -> int:
    """Returns the lines of words, patterns and pages that stand in files beside the code."""
    return sum(path.read_bytes().count(b"\n") for path in PACKAGE.rglob("*") if path.suffix in DATA)


def count_tests(width: int) -> int:
    """Returns the lines of code of the tests at this width, calls joined where they fit."""
    with tempfile.TemporaryDirectory() as scratch:
        for number, path in enumerate(sorted(TESTS.rglob("*.py"))):
            (Path(scratch) / f"{number}.py").write_text(path.read_text("utf-8"), "utf-8")
        format_at(Path(scratch), width, "--config", "format.skip-magic-trailing-comma=true")
        return sum(count_code(path.read_text("utf-8")) for path in Path(scratch).iterdir())


def find_circles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Returns the modules of one circle of imports, if any: deferred and type-checking ones count."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [sorted({*error.args[1]})]
    return []


def _imports(tree: ast.Module, package: str, modules: Iterable[str]) -> Iterator[str]:
    """Yields the modules of the package that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from _imported_from(node, package, modules)
        elif isinstance(node, ast.Import):
            names = (alias.name.removeprefix(f"{package}.") for alias in node.names)
            yield from (name for name in names if name in modules)


def _imported_from(node: ast.ImportFrom, package: str, modules: Iterable[str]) -> Iterator[str]:
    first, _, base = (node.module or "").partition(".")
    if first != package:
        return
    for alias in node.names:
        inner = f"{base}.{alias.name}".lstrip(".")
        if inner in modules:
            yield inner
        elif base in modules:
            yield base


def _level(module: str) -> int | None:
    """Returns the place of the module's floor in `ORDER`; the package itself has none above it."""
    if module in ("__init__", "stages"):
        return len(ORDER)
    floors = (i for i, floor in enumerate(ORDER) if f"{module}.".startswith(f"{floor}."))
    return next(floors, None)


def _points_up(module: str, other: str) -> bool:
    level = _level(module)
    other_level = _level(other)
    if level is None or other_level is None or module == "__init__":
        return False
    return other_level < level and (module, other) != UPWARD_EXCEPTION


def _is_optional(module: str) -> bool:
    return module.startswith("extras.")


def _passes_facade(module: str, other: str) -> bool:
    return module.startswith("interfaces.") and other.split(".")[0] in BEHIND_FACADE


def _documented(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yields each public class and function, and the module, with whether it has a docstring."""
    yield "", ast.get_docstring(tree) is not None
    for node in ast.walk(tree):
        is_definition = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_definition and not node.name.startswith("_"):
            yield node.name, ast.get_docstring(node) is not None


def report(structure: Structure) -> Iterator[tuple[str, str]]:
    """Yields each figure with its name."""
    yield "modules in the root", f"{len(structure.root_modules)} {structure.root_modules}"
    yield "circles of imports", f"{len(structure.circles)} {structure.circles or ''}"
    yield "modules without a floor", f"{len(structure.unplaced)} {structure.unplaced or ''}"
    yield "imports against the order", f"{len(structure.upward)} {structure.upward or ''}"
    yield "interfaces past the facade", f"{len(structure.past_facade)} pairs of modules"
    yield f"lines of code at {WIDTH} columns", f"{structure.code_lines:,}"
    yield "lines of code without extras", f"{structure.core_lines:,}"
    yield "longest file", "{}: {} lines of code".format(*structure.longest_file)
    yield "longest function", "{}: {} lines".format(*structure.longest_function)
    for name, habits in (("", structure.finished), (", unfinished", structure.unfinished)):
        yield f"over {MOST_BRANCHES} branches{name}", f"{len(habits.branching)} functions"
        yield f"assigning conditions{name}", f"{habits.conditions}"
        yield f"tuple assignments{name}", f"{habits.tuples}"
        yield f"nested comprehensions{name}", f"{habits.nested}"
        yield f"vague names{name}", f"{habits.vague:,} of {habits.names:,}"
    masking = structure.masking_alternatives
    yield "alternatives of patterns", f"{structure.alternatives:,}, and {masking:,} of masking"
    yield "names repeated", f"{structure.classes_twice} {structure.repeated_files}"
    yield "public names", f"{structure.definitions:,}, {len(structure.undocumented)} undocumented"
    yield "words in docs", f"{count_words():,}"
    yield "lines of data in the package", f"{count_data():,}"
    yield (
        "lines of tests",
        f"{count_tests(WIDTH):,} at {WIDTH} columns, {count_tests(128):,} at 128",
    )


def main() -> None:
    """Prints the structure, one figure a line, and the functions with too many branches."""
    structure = measure()
    for name, figure in report(structure):
        print(f"{name:32}{figure}")
    for function in structure.finished.branching:
        print(f"  branches: {function}")


if __name__ == "__main__":
    main()
