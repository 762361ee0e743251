"""How a symbol is defined, by plain definitions of the languages that are known, and used."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from memory_assets.stages.verify.contents import Trace, in_text

_SCRIPT = ("function", "class", "interface", "type", "enum", "const", "let", "var", "namespace")
_RUST = ("fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union")
_KEYWORDS = {
    **dict.fromkeys((".py", ".pyi"), ("def", "class")),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs"), _SCRIPT),
    **dict.fromkeys((".yaml", ".yml", ".toml", ".json", ".ini", ".cfg"), ("key",)),
    ".go": ("func", "type", "var", "const"),
    ".rs": _RUST,
    **dict.fromkeys((".sh", ".bash", ".zsh", ""), ("function",)),
}
"""What stands before a name that is defined, by the ending of the file; a file without one may be
a script. Keys of settings are defined by what follows.
"""
_IN_CODE = r"^(?!\s*(?://|[#*]\s|/\*)).*?(?<![\w$]){}(?![\w$])"
"""In a line that is no comment."""


_ASSIGNED = re.compile(
    r"^\s*([\w$]+)\s*(?:[:\s][^=]+)?=(?!=)(?!.*,\s*$)|^\s*[\"']?([\w$]+)[\"']?:(?!:)"
)
_FIELD = re.compile(r"^\s+(\w+)\s+[\w.*\[\]]+(?:\s+`.*`)?$")
_OPENED = re.compile(
    r"^\s*(?!(?:if|for|while|switch)\b)(?:\w+\s+)*(\w+)\s*\((?!.*(?:=>|[\"'`]|\bfunction\b)).*\{\s*$"
)


def trace_of_symbol(name: str) -> Trace:
    """Returns how the symbol is seen: used in code, and once defined."""
    use = re.compile(_IN_CODE.format(re.escape(name)), re.MULTILINE)

    def is_defined(path: str, text: str) -> bool:
        """Returns whether a line of the file defines the name."""
        keywords = _KEYWORDS.get(PurePosixPath(path).suffix)
        lines = (line for line in text.splitlines() if name in line)
        return keywords is not None and any(name in _defined_in(line, keywords) for line in lines)

    return Trace(in_text(use), is_defined, name, is_word=name.isidentifier())


def _defined_in(line: str, keywords: tuple[str, ...]) -> Iterator[str]:
    """Yields the names that the line defines."""
    declared = rf"\b(?:{'|'.join(keywords)})\s+(?:\([^)]*\)\s*|mut\s+)?([\w$]+)"
    for pattern in (declared, _ASSIGNED, _FIELD, _OPENED):
        for match in re.finditer(pattern, line):
            yield match[match.lastindex or 0]
