"""Measures the structure of the package and prints it: `make structure`, or `python -m memory_assets_tests.structure`.

Counts what the plan of the house promises: modules in the root, circles of imports (deferred and type-checking imports count),
imports against the order of the folders, lines of code (no blanks, comments, docstrings), docstring coverage, the longest file;
and the size of the rules observer, in lines and in the alternatives of its patterns.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "memory_assets"
TESTS = Path(__file__).resolve().parent
ORDER = (
    "definitions", "interfaces", "memory", "assets", "runs", "services",
    "stages.maintain", "stages.evaluate", "stages.brief", "stages.triage", "stages.friction", "stages.reflect", "stages.recall",
    "stages.embed", "stages.distill", "stages.capture", "stages.deliver",
    "store", "adapters", "schema", "text", "errors",
)  # fmt: skip
"""Folders and root modules from the top to the bottom; imports point down."""

EXCEPTION = ("runs.launch", "definitions")
"""The launcher runs the assembled definitions."""

RULES_OBSERVER = ("stages/distill/rules/*", "stages/distill/lessons.py")
GATES_OWN = "instructions.py"
"""Lies beside the rules, but serves the write gate and the grounding of a model's facts."""

FORMER_OBSERVER = (1044, 2077)
"""Lines and alternatives of the first rules observer, which had grown with its patterns; the present one has at most half."""


@dataclass(frozen=True)
class Structure:
    """What was measured of the package."""

    root_modules: list[str]
    circles: list[list[str]]
    upward: list[tuple[str, str]]
    code_lines: int
    undocumented: list[str]
    definitions: int
    longest: tuple[str, int]
    rules_observer: tuple[int, int]
    """Lines of code, and alternatives of patterns and word lists."""


def measure(package: Path = PACKAGE) -> Structure:
    """Reads every module of the package and returns its structure."""
    modules = dict(_modules(package))
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in modules.items()}
    imports = {name: set(_imports(tree, package.name, modules)) - {name} for name, tree in trees.items()}
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules.items()}
    documented = [(f"{name}.{at}", has) for name, tree in trees.items() for at, has in _documented(tree)]
    longest = max(lengths, key=lambda name: lengths[name])
    return Structure(
        root_modules=sorted(name for name, path in modules.items() if path.parent == package),
        circles=find_circles(imports),
        upward=[(a, b) for a, found in sorted(imports.items()) for b in sorted(found) if _points_up(a, b)],
        code_lines=sum(count_code(path.read_text("utf-8")) for path in modules.values()),
        undocumented=[name for name, has in documented if not has],
        definitions=len(documented),
        longest=(longest, lengths[longest]),
        rules_observer=measure_observer(package),
    )


def measure_observer(package: Path = PACKAGE) -> tuple[int, int]:
    """Returns the lines and alternatives of the rules observer; of a file of data beside its modules each line counts as both."""
    paths = [path for pattern in RULES_OBSERVER for path in sorted(package.glob(pattern)) if path.is_file()]
    lines = alternatives = 0
    for source, is_code in ((path.read_text("utf-8"), path.suffix == ".py") for path in paths if path.name != GATES_OWN):
        lines += count_code(source) if is_code else len(source.splitlines())
        alternatives += count_alternatives(source) if is_code else len(source.splitlines())
    return lines, alternatives


def count_alternatives(source: str) -> int:
    """Returns how many alternatives the patterns and word lists of a module have, each counted once, as it is written.

    These are the branches of every string with a `|` outside of character classes, one for any other pattern, and each word of a
    list, set, tuple, dictionary or `word_set` of strings.
    """
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    listed = {id(item) for node in ast.walk(tree) for item in _listed(node)}
    found = 0
    for node in ast.walk(tree):
        if (text := _text_of(node)) is None or id(node) in docs | parts:
            continue
        branches = len(_BRANCH.findall(_CLASS.sub("", text)))
        found += branches + 1 if branches else len(text.split()) * (id(node) in listed)
    return found


_CLASS = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]")
_BRANCH = re.compile(r"\|")


def _text_of(node: ast.AST) -> str | None:
    """Returns the text of a string, or of the fixed parts of an f-string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(filter(None, map(_text_of, node.values)))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _listed(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the items of a list of words, and the pattern or words that are given to a call that reads them."""
    if isinstance(node, ast.List | ast.Set | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("word_set", "stems_of", "compile"):
        yield from node.args[:1]


def count_code(source: str) -> int:
    """Returns the lines that hold code: no blank lines, comments or docstrings."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A string that is a statement of its own is a docstring: of a module, class, function, or of the constant above it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def find_circles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Returns the groups of modules that import one another, directly or through others (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in imports.get(module, ()):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            group = [stack.pop()]
            while group[-1] != module:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for module in imports:
        if module not in number:
            visit(module)
    return found


def _modules(package: Path) -> Iterator[tuple[str, Path]]:
    """Yields each module with its path; names leave the package's own out, and the package itself is `__init__`."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts), path


def _imports(tree: ast.Module, package: str, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package:
            base = node.module.removeprefix(package).lstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                if inner in modules or base in modules:
                    yield inner if inner in modules else base
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix(f"{package}.") for a in node.names if a.name.removeprefix(f"{package}.") in modules)


def _points_up(module: str, other: str) -> bool:
    levels = [next((i for i, name in enumerate(ORDER) if f"{one}.".startswith(f"{name}.")), -1) for one in (module, other)]
    return -1 not in levels and levels[1] < levels[0] and (module, other) != EXCEPTION


def _documented(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yields each public class and function, and the module, with whether it has a docstring."""
    yield "", ast.get_docstring(tree) is not None
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node.name, ast.get_docstring(node) is not None


def main() -> None:
    """Prints the structure, one figure a line."""
    found = measure()
    tests = list(TESTS.rglob("test_*.py"))
    print(f"modules in the root            {len(found.root_modules)} ({', '.join(found.root_modules)})")
    print(f"circles of imports             {len(found.circles)} {found.circles or ''}")
    print(f"imports against the order      {len(found.upward)} {found.upward or ''}")
    print(f"lines of code                  {found.code_lines:,}")
    print(f"public names with a docstring  {found.definitions - len(found.undocumented):,} of {found.definitions:,}")
    print(f"longest file                   {found.longest[0]} ({found.longest[1]} lines)")
    was = " and ".join(f"{count:,}" for count in FORMER_OBSERVER)
    print(
        f"rules observer                 {found.rules_observer[0]} lines, {found.rules_observer[1]:,} alternatives (were {was})"
    )
    print(
        f"test files, lines of code      {len(tests)}, {sum(count_code(p.read_text('utf-8')) for p in TESTS.rglob('*.py')):,}"
    )


if __name__ == "__main__":
    main()
