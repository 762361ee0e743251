"""Measures the structure of the package and prints it: `make structure`, or `python -m memory_assets_tests.structure`.

Counts what the plan of the house promises: modules in the root, circles of imports (deferred and type-checking imports count),
imports against the order of the folders, lines of code (no blanks, comments, docstrings), docstring coverage, the longest file.
"""

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "memory_assets"
TESTS = Path(__file__).resolve().parent
ORDER = (
    "definitions", "interfaces", "memory", "assets", "runs", "services",
    "stages.evaluate", "stages.maintain", "stages.brief", "stages.triage", "stages.friction", "stages.reflect", "stages.recall",
    "stages.embed", "stages.distill", "stages.capture", "stages.deliver",
    "store", "adapters", "schema", "text", "errors",
)  # fmt: skip
"""Folders and root modules from the top to the bottom; imports point down."""

EXCEPTION = ("runs.launch", "definitions")
"""The launcher runs the assembled definitions."""


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
    )


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
    print(
        f"test files, lines of code      {len(tests)}, {sum(count_code(p.read_text('utf-8')) for p in TESTS.rglob('*.py')):,}"
    )


if __name__ == "__main__":
    main()
