"""A service that keeps the memory up to date in the background, from login on."""

from memory_assets.schema.extras import Extra

STATE = "extras.service.login_service:ServiceState"

EXTRA = Extra(
    name="service",
    commands={"service": "cli:app"},
    answers={
        "service install": STATE,
        "service uninstall": STATE,
        "service status": STATE,
        "service run": {"log": str},
    },
    uninstall="login_service:uninstall_if_any",
)
