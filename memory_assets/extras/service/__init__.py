"""A service that keeps the memory up to date in the background, from login on."""

from memory_assets.schema.extras import Extra

EXTRA = Extra(
    name="service",
    commands={"service": "cli:app"},
    answers="cli:answer_types",
    uninstall="login_service:uninstall_if_any",
)
