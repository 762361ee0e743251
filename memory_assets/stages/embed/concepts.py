"""What well-known tools are for, in the words in which people ask: "how do we install packages" is about uv and pip.

A small sentence model does not know that `uv` installs packages, so a memory that names a tool is also indexed with these
words.
"""

import re

CONCEPTS: dict[str, str] = {
    "install packages dependencies package manager": (
        "uv, pip, pipx, pip-tools, poetry, conda, npm, pnpm, yarn, bun, cargo, brew, homebrew, apt, gem, maven, gradle, "
        "composer, nuget"
    ),
    "run tests test": "pytest, unittest, jest, vitest, tox, nox, junit, rspec, go test",
    "browser end-to-end tests click website site": "playwright, cypress, selenium, puppeteer, webdriver",
    "format lint code style": "ruff, black, gofmt, prettier, eslint, golangci-lint, shellcheck, rustfmt, clippy",
    "check types typing": "pyright, mypy, tsc",
    "deploy server hosting": "fly, hetzner, heroku, kubectl, helm, ansible, terraform, vercel, netlify",
    "database storage": "postgres, postgresql, psql, mysql, mariadb, sqlite, redis, mongodb, dynamodb",
    "schema migrations database": "alembic, flyway, liquibase",
    "containers kubernetes": "docker, podman, k8s, kubectl, compose",
    "continuous integration pipeline": (
        "gha, github actions, github-actions, gitlab ci, circleci, jenkins, buildkite, travis, azure pipelines"
    ),
    "message broker queue": "rabbitmq, kafka, nats, sqs, celery, pulsar, activemq",
    "credentials passwords keys secrets": "1password, vault, bitwarden, lastpass, keychain, keyring, secrets manager",
    "login logged in out authentication": "oidc, oauth, oauth2, saml, keycloak, okta, auth0, ldap, cognito",
    "editor ide": (
        "vim, neovim, nvim, emacs, helix, vscode, vs code, visual studio code, zed, sublime, jetbrains, intellij, pycharm, "
        "goland"
    ),
    "cloud region data centre aws": "us-east-1, us-east-2, us-west-1, us-west-2, eu-west-1, eu-central-1, eu-north-1",
    "file object storage bucket aws": "s3",
    "law legal regulation privacy compliance": "gdpr, eu, hipaa, ccpa, pci dss, soc 2",
    "payments card": "stripe, adyen, paypal, braintree",
    "css styling": "tailwind, bootstrap, sass, styled-components",
    "logging logs": "structlog, loguru, log4j, zap, logback, serilog",
    "alerts monitoring metrics": "grafana, prometheus, datadog, sentry, pagerduty, opentelemetry",
}
"""Words of a question → the tools it is about."""

_WORDS_OF: dict[str, str] = {}
for _words, _tools in CONCEPTS.items():
    for _tool in _tools.split(", "):
        _WORDS_OF[_tool] = f"{_WORDS_OF[_tool]} {_words}" if _tool in _WORDS_OF else _words
_TOOLS = "|".join(re.escape(tool) for tool in sorted(_WORDS_OF, key=lambda tool: (-len(tool), tool)))
_TOOL = re.compile(rf"(?<![\w-])(?:{_TOOLS})(?![\w-])", re.I)


def concept_words(text: str) -> str:
    """Returns the question words for the tools that the text names, each once, in order."""
    found = (_WORDS_OF[match[0].lower()] for match in _TOOL.finditer(text))
    return " ".join(dict.fromkeys(word for words in found for word in words.split()))
