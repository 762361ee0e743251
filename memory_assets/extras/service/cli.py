"""`memory service`: keeps the memory up to date in the background, from login on."""

import os
from functools import partial
from pathlib import Path
from typing import Any

from memory_assets.errors import StoreError
from memory_assets.extras.service.views import after_service, render_service
from memory_assets.interfaces.cli.commands import DryRun, Port, group, view_reply
from memory_assets.interfaces.ports import PAGE_PORT, free_port
from memory_assets.interfaces.views.terminal import Reply, tell
from memory_assets.memory import MemoryAgent

app = group("Keep the memory up to date in the background, from login on.")


@app.command(epilog="Example: `memory service install --dry-run`")
def install(port: Port = None, dry_run: DryRun = False) -> Reply:
    """Start now and at each login: the Dagster UI with its sensors and schedules (systemd or
    launchd).
    """
    from memory_assets.extras.service import login_service

    service = login_service.install(_own_store(), port, is_dry=dry_run)
    return view_reply(partial(render_service, is_dry=dry_run), service)


@app.command(epilog="Example: `memory service uninstall`")
def uninstall(dry_run: DryRun = False) -> Reply:
    """Stop the service and remove it from login; the memory stays."""
    from memory_assets.extras.service import login_service

    service = login_service.uninstall(MemoryAgent().settings.data, is_dry=dry_run)
    return view_reply(partial(render_service, is_dry=dry_run), service)


@app.command(epilog="Example: `memory service status`")
def status() -> Reply:
    """Show whether the service is installed and runs; the exit code is 1 if not."""
    from memory_assets.extras.service import login_service

    service = login_service.status(MemoryAgent().settings.data)
    code = int(not service.is_running)
    return view_reply(render_service, service, exit_code=code, next_step=after_service(service))


@app.command(hidden=True, epilog="Example: `memory service run --store ~/memory`")
def run(port: Port = None) -> Reply:
    """Serve the Dagster UI and write a log that rotates; the service calls this."""
    from memory_assets.extras.service import login_service

    os.environ.update(login_service.read_keys())
    agent = MemoryAgent()
    log = login_service.log_path(_own_store())
    ui_port = free_port(port or agent.settings.port)
    start = partial(agent.serve_ui, ui_port, tell, free_port(PAGE_PORT), is_service=True)
    return Reply({"log": log}, afterwards=start)


def _own_store() -> Path:
    """Returns the folder of the owner's store.

    Raises `StoreError` where there is none, or only the sample.
    """
    agent = MemoryAgent()
    if agent.exists and not agent.is_sample:
        return agent.store.root
    contents = "only the bundled sample" if agent.exists else "no memory"
    raise StoreError(
        f"There is {contents} in {agent.settings.data}. Run `memory up --no-ui` once there are "
        "transcripts."
    )


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.extras.service.login_service import ServiceState
    from memory_assets.interfaces.json_schema import fields

    return {
        "service install": ServiceState,
        "service uninstall": ServiceState,
        "service status": ServiceState,
        "service run": fields(log=str),
    }
