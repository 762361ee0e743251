"""The service that starts at login: a systemd user unit on Linux, a launch agent on macOS.

The unit runs `memory service run --store FOLDER`, which serves the Dagster UI with its sensors and
schedules and writes what its processes print into a log that rotates. Keys are never written into a
unit: they come from `service.env` in the user's configuration folder, which only the owner may
read.
"""

import os
import plistlib
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory_assets.errors import SettingsError, StoreError
from memory_assets.harnesses.hook_commands import command
from memory_assets.store.places import application_folder, settings_files, user_settings_file
from memory_assets.store.service_log import START_FILE, log_path
from memory_assets.store.settings import read_file
from memory_assets.text.files import bytes_of, write_atomically

NAME, LABEL = "memory-assets", "local.memory-assets"
INSTALLED, CURRENT, OUTDATED, REMOVED, ABSENT = (
    "installed",
    "already installed",
    "outdated",
    "removed",
    "not installed",
)
KEYS_FILE = "service.env"
OF_OBJECT_STORE = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION")
"""What a store in an S3 bucket reads from the environment."""

CARRIED = (
    "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR", "TZ",
)  # fmt: skip
"""Variables that say where programs, settings and transcripts are; those that are set are written
into the unit.
"""

COMMAND_SECONDS = 30.0

Run = Callable[[Sequence[str]], tuple[int, str]]
"""Runs a command and returns its exit code and what it printed; -1 where there is no such program.
"""


@dataclass(frozen=True)
class ServiceState:
    """The state of the service, or what installing or uninstalling it did."""

    state: str
    path: Path
    log: Path
    is_running: bool = False
    warnings: tuple[str, ...] = ()
    text: str = ""
    """What the file contains, or would contain."""


@dataclass(frozen=True)
class _Manager:
    """What starts services at login: the file that it reads, and its commands."""

    path: Path
    text: bytes
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]


def run_command(words: Sequence[str]) -> tuple[int, str]:
    """Runs the command with a time limit."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return done.returncode, (done.stdout + done.stderr).strip()


@dataclass(frozen=True)
class Machine:
    """Where services run: the platform, the home folder, the variables of this process, and how
    commands are run.
    """

    platform: str = sys.platform
    home: Path = field(default_factory=Path.home)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    run: Run = field(default_factory=lambda: run_command)


def install(
    store: Path,
    port: int | None = None,
    *,
    is_dry: bool = False,
    machine: Machine | None = None,
) -> ServiceState:
    """Writes the unit for the store and starts it, now and at each login; raises `StoreError` where
    it cannot be written.
    """
    on = machine or Machine()
    manager = _manager(store, port, on)
    warnings = _unseen_settings(on.environ)
    before = bytes_of(manager.path)
    state = CURRENT if before == manager.text else INSTALLED
    found = ServiceState(
        state, manager.path, log_path(store), warnings=warnings, text=manager.text.decode()
    )
    if is_dry:
        return found
    try:
        write_atomically(manager.path, manager.text)
    except OSError as error:
        raise StoreError(
            f"Cannot write {manager.path}: {error.strerror or error}. Fix the folder's permissions."
        ) from error
    if before is not None and before != manager.text:
        _each(manager.stop, on.run)
    failed = _each(manager.start, on.run)
    return replace(found, is_running=_is_running(manager, on.run), warnings=(*warnings, *failed))


def uninstall(
    store: Path,
    *,
    is_dry: bool = False,
    machine: Machine | None = None,
) -> ServiceState:
    """Stops the service and removes its unit; the store stays."""
    on = machine or Machine()
    manager = _manager(store, None, on)
    before = bytes_of(manager.path)
    if before is None:
        return ServiceState(ABSENT, manager.path, log_path(store))
    if not is_dry:
        _each(manager.stop, on.run)
        manager.path.unlink(missing_ok=True)
        if on.platform != "darwin":
            on.run(("systemctl", "--user", "daemon-reload"))
    return ServiceState(
        REMOVED,
        manager.path,
        log_path(store),
        text=before.decode("utf-8", "replace") if is_dry else "",
    )


def uninstall_if_any(store: Path, *, is_dry: bool) -> ServiceState | None:
    """Does what `uninstall` does; returns None on a platform that has no service."""
    try:
        return uninstall(store, is_dry=is_dry)
    except StoreError:
        return None


def status(
    store: Path,
    *,
    machine: Machine | None = None,
) -> ServiceState:
    """Returns whether the service is installed for the store, and whether it runs."""
    on = machine or Machine()
    manager = _manager(store, None, on)
    found = bytes_of(manager.path)
    if found is None:
        return ServiceState(ABSENT, manager.path, log_path(store))
    text = found.decode("utf-8", "replace")
    is_ours = _store_word(store, on.platform) in text and all(
        word in text for word in command()[:1]
    )
    state = INSTALLED if is_ours else OUTDATED
    why = (
        ()
        if is_ours
        else (
            f"{manager.path} is of another store or installation; `memory service install` "
            "writes it again.",
        )
    )
    return ServiceState(
        state, manager.path, log_path(store), _is_running(manager, on.run), why, text
    )


def read_keys(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the variables in `service.env`: lines `NAME=value`; raises `SettingsError` if others
    may read the file.
    """
    path = Path(user_settings_file(environ)).with_name(KEYS_FILE)
    if not path.is_file():
        return {}
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise SettingsError(f"Other users may read the keys in {path}. Run `chmod 600 '{path}'`.")
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    pairs = (
        line.removeprefix("export ").partition("=")
        for line in lines
        if "=" in line and not line.startswith("#")
    )
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def _manager(store: Path, port: int | None, on: Machine) -> _Manager:
    """Returns the platform's manager; raises `StoreError` where there is none that is known."""
    words = [
        *command(),
        "service",
        "run",
        "--store",
        str(store),
        *(["--port", str(port)] if port else []),
    ]
    carried = {name: on.environ[name] for name in CARRIED if on.environ.get(name)}
    if on.platform == "darwin":
        path = on.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}"
        start = (("launchctl", "bootstrap", domain, str(path)),)
        stop = (("launchctl", "bootout", f"{domain}/{LABEL}"),)
        text = _launch_agent(words, carried, on.home, log_path(store))
        return _Manager(path, text, start, stop, ("launchctl", "print", f"{domain}/{LABEL}"))
    if on.platform.startswith("linux"):
        unit = f"{NAME}.service"
        path = (
            Path(application_folder("settings", on.platform, on.environ, on.home))
            / "systemd"
            / "user"
            / unit
        )
        start = (
            ("systemctl", "--user", "daemon-reload"),
            ("systemctl", "--user", "enable", "--now", unit),
        )
        stop = (("systemctl", "--user", "disable", "--now", unit),)
        return _Manager(
            path,
            _unit(words, carried),
            start,
            stop,
            ("systemctl", "--user", "is-active", "--quiet", unit),
        )
    raise StoreError(
        f"There is no service for {on.platform} yet: systemd and launchd are supported. "
        f"Start this at login: {' '.join(words)}"
    )


def _unit(words: Sequence[str], environ: Mapping[str, str]) -> bytes:
    """Returns the text of the systemd unit."""
    variables = "".join(
        f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environ.items()
    )
    text = f"""# Written by `memory service install`; `memory service uninstall` removes it.
[Unit]
Description=memory_assets: reads transcripts of coding agents and keeps their memory up to date

[Service]
Type=exec
ExecStart={" ".join(map(_quoted_word, words))}
{variables}WorkingDirectory=%h
UMask=0077
Nice=10
Restart=on-failure
RestartSec=60
TimeoutStopSec=20
KillMode=mixed
StandardOutput=null
StandardError=journal

[Install]
WantedBy=default.target
"""
    return text.encode()


def _quoted_word(word: str) -> str:
    return _quoted(word).replace("$", "$$")


def _quoted(text: str) -> str:
    """Returns the text as one word of a unit."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def _launch_agent(words: Sequence[str], environ: Mapping[str, str], home: Path, log: Path) -> bytes:
    """Returns the property list of the launch agent; what fails before its log is open goes into a
    file beside that.
    """
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(words),
            "EnvironmentVariables": dict(environ),
            "WorkingDirectory": str(home),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 60,
            "ProcessType": "Background",
            "Umask": 0o077,
            "StandardOutPath": os.devnull,
            "StandardErrorPath": str(log.with_name(START_FILE)),
        }
    )


def _store_word(store: Path, platform: str) -> str:
    return f"<string>{store}</string>" if platform == "darwin" else _quoted_word(str(store))


def _is_running(manager: _Manager, run: Run) -> bool:
    code, _ = run(manager.ask)
    return code == 0


def _each(commands: Sequence[Sequence[str]], run: Run) -> tuple[str, ...]:
    """Runs the commands and returns what failed, with the commands to run by hand; the first
    failure ends it.
    """
    for at, words in enumerate(commands):
        code, said = run(words)
        if code:
            why = said.splitlines()[0] if said else f"exit code {code}"
            by_hand = "; ".join(" ".join(one) for one in commands[at:])
            return (
                f"`{' '.join(words)}` failed ({why}). The file is written; run by hand: {by_hand}",
            )
    return ()


def _unseen_settings(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a warning where settings are set in this shell alone, which the service does not
    see.
    """
    known = {name for file in settings_files(environ) for name in read_file(file)}
    names = (
        name
        for name, value in environ.items()
        if name.startswith("MEMORY_") and value and name != "MEMORY_DATA"
    )
    unseen = sorted(name for name in names if name.removeprefix("MEMORY_").lower() not in known)
    of_store = OF_OBJECT_STORE if "store" in known or environ.get("MEMORY_STORE") else ()
    keys = sorted(
        name
        for name in ("ANTHROPIC_API_KEY", "MEMORY_TODOIST_TOKEN", *of_store)
        if environ.get(name)
    )
    found = [name for name in unseen if name not in (*keys, "MEMORY_DEBUG")]
    warnings = [
        f"Only set in this shell, which the service does not see: {', '.join(found)}. Write "
        "them into memory.toml."
    ]
    file = Path(user_settings_file(environ)).with_name(KEYS_FILE)
    about_keys = f"The service reads keys from {file}, not from this shell: {', '.join(keys)}."
    return (*(warnings if found else []), *([about_keys] if keys else []))
