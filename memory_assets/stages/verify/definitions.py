"""How a symbol is defined, by plain definitions of the languages that are known, and used."""

import re
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


def trace_of_symbol(name: str) -> Trace:
    """Returns how the symbol is seen: used in code, and once defined."""
    word = re.escape(name)
    use = re.compile(_IN_CODE.format(word), re.MULTILINE)
    assigned = rf"^\s*{word}\s*(?:[:\s][^=\n]+)?=(?!=)|^\s*[\"']?{word}[\"']?:(?!:)"
    field = rf"^\s+{word}\s+[\w.*\[\]]+(?:\s+`[^\n]*`)?$"
    opened = rf"^\s*(?!(?:if|for|while|switch)\b)(?:\w+\s+)*{word}\s*\([^\n]*\{{\s*$"

    def is_defined(path: str, text: str) -> bool:
        keywords = _KEYWORDS.get(PurePosixPath(path).suffix)
        if keywords is None:
            return False
        declared = rf"\b(?:{'|'.join(keywords)})\s+(?:\([^)\n]*\)\s*|mut\s+)?{word}\b"
        return bool(re.search(f"{declared}|{assigned}|{field}|{opened}", text, re.MULTILINE))

    return Trace(in_text(use), is_defined, name)
