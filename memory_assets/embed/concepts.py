"""What well-known tools are for, in the words in which people ask: "how do we install packages" is about uv and pip.

A small sentence model does not know that `uv` installs packages, so a memory that names a tool is also found by these words.
"""

import re

CONCEPTS: dict[str, tuple[str, ...]] = {
    "install packages dependencies": (
        "uv",
        "pip",
        "pipx",
        "poetry",
        "conda",
        "npm",
        "pnpm",
        "yarn",
        "cargo",
        "brew",
        "apt",
        "gem",
    ),
    "run tests test": ("pytest", "unittest", "jest", "vitest", "tox", "nox"),
    "format lint code style": ("ruff", "black", "gofmt", "prettier", "eslint", "golangci-lint", "shellcheck"),
    "check types typing": ("pyright", "mypy", "tsc"),
    "deploy server hosting": ("fly", "hetzner", "heroku", "kubectl", "helm", "ansible", "terraform"),
    "database storage": ("postgres", "postgresql", "psql", "mysql", "sqlite", "redis", "mongodb"),
    "containers kubernetes": ("docker", "podman", "k8s", "kubectl", "compose"),
    "continuous integration pipeline": ("gha", "github-actions", "circleci", "jenkins"),
}
"""Words to ask with → tools that they are about."""

_WORDS_OF = {tool: words for words, tools in CONCEPTS.items() for tool in tools}
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


def concept_words(text: str) -> str:
    """Returns the words by which the tools that the text names are asked for, each once, in order."""
    found = (_WORDS_OF.get(token.lower()) for token in _TOKEN.findall(text))
    return " ".join(dict.fromkeys(word for words in found if words for word in words.split()))
