"""Installs, removes and checks the service that starts at login.

On Linux it is a systemd user unit, on macOS a launch agent. It runs `memory service run --store
FOLDER`, which serves the Dagster UI with its sensors and schedules, and writes what its processes
print into a log that rotates. Keys are never written into the unit. They come from `service.env` in
the user's configuration folder, which only the owner may read.
"""

import os
import plistlib
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from memory_assets.errors import SettingsError, StoreError
from memory_assets.harnesses.homes import home_variables
from memory_assets.harnesses.hook_commands import command
from memory_assets.store.places import application_folder, settings_files, user_settings_file
from memory_assets.store.service_log import START_FILE, log_path
from memory_assets.store.settings import read_file
from memory_assets.text.files import bytes_of, text_of, write_atomically

UNIT = "memory-assets.service"
LABEL = "local.memory-assets"
INSTALLED = "installed"
CURRENT = "already installed"
OUTDATED = "outdated"
REMOVED = "removed"
ABSENT = "not installed"
KEYS_FILE = "service.env"
KEYS = ("ANTHROPIC_API_KEY", "MEMORY_TODOIST_TOKEN")
OF_OBJECT_STORE = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION")
"""Variables that a store in an S3 bucket reads from the environment."""

CARRIED = ("PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", *home_variables(), "TZ")
"""Variables that say where programs, settings and transcripts are. The unit gets those that are
set.
"""

COMMAND_SECONDS = 30.0
RELOAD = ("systemctl", "--user", "daemon-reload")

Run = Callable[[Sequence[str]], tuple[int, str]]
"""Runs a command; returns its exit code, -1 if it could not be run, and what it printed."""


@dataclass(frozen=True)
class ServiceState:
    """The state of the service, or the result of installing or uninstalling it."""

    state: str
    """INSTALLED, CURRENT, OUTDATED, REMOVED or ABSENT."""
    path: Path
    """The file of the unit or the launch agent."""
    log: Path
    is_running: bool = False
    warnings: tuple[str, ...] = ()
    text: str = ""
    """The contents of the file, or those that it would have."""


@dataclass(frozen=True)
class _Manager:
    """The program that starts services at login (systemd or launchd): its file and commands."""

    path: Path
    """The file that describes our service."""
    text: bytes
    """What that file should contain."""
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]
    """Exits with 0 if the service runs."""


def run_command(words: Sequence[str]) -> tuple[int, str]:
    """Runs the command with a time limit (`Run`)."""
    try:
        process = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return process.returncode, (process.stdout + process.stderr).strip()


@dataclass(frozen=True)
class Platform:
    """Everything that the service depends on outside this program, so that tests can replace it."""

    platform: str = sys.platform
    home: Path = field(default_factory=Path.home)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    run: Run = field(default_factory=lambda: run_command)


def install(
    store: Path,
    port: int | None = None,
    *,
    is_dry: bool = False,
    machine: Platform | None = None,
) -> ServiceState:
    """Writes the unit for the store, and starts it now and at each login.

    Raises `StoreError` where the unit cannot be written.
    """
    host = machine or Platform()
    manager = _manager(store, port, host)
    warnings = _warn_of_shell(host.environ)
    previous = bytes_of(manager.path)
    state = CURRENT if previous == manager.text else INSTALLED
    text = manager.text.decode()
    service = ServiceState(state, manager.path, log_path(store), warnings=warnings, text=text)
    if is_dry:
        return service
    try:
        write_atomically(manager.path, manager.text)
    except OSError as error:
        problem = f"Cannot write {manager.path}: {error.strerror or error}"
        raise StoreError(f"{problem}. Fix the folder's permissions.") from error
    if previous is not None and state == INSTALLED:
        _run_all(manager.stop, host.run)
    warnings += _run_all(manager.start, host.run)
    is_running = _is_running(manager, host.run)
    return replace(service, is_running=is_running, warnings=warnings)


def uninstall(
    store: Path, *, is_dry: bool = False, machine: Platform | None = None
) -> ServiceState:
    """Stops the service and removes its unit; the store stays."""
    host = machine or Platform()
    manager = _manager(store, None, host)
    service_state = partial(ServiceState, path=manager.path, log=log_path(store))
    if not manager.path.is_file():
        return service_state(ABSENT)
    if is_dry:
        return service_state(REMOVED, text=text_of(manager.path))
    _run_all(manager.stop, host.run)
    manager.path.unlink(missing_ok=True)
    if host.platform != "darwin":
        host.run(RELOAD)
    return service_state(REMOVED)


def uninstall_if_any(store: Path, *, is_dry: bool) -> ServiceState | None:
    """Does the same as `uninstall`; returns None on a platform without a service."""
    try:
        return uninstall(store, is_dry=is_dry)
    except StoreError:
        return None


def status(store: Path, *, machine: Platform | None = None) -> ServiceState:
    """Returns whether the service is installed for the store, and whether it runs."""
    host = machine or Platform()
    manager = _manager(store, None, host)
    service_state = partial(ServiceState, path=manager.path, log=log_path(store))
    if not manager.path.is_file():
        return service_state(ABSENT)
    text = text_of(manager.path)
    is_running = _is_running(manager, host.run)
    if _store_word(store, host.platform) in text and command()[0] in text:
        return service_state(INSTALLED, is_running=is_running, text=text)
    fault = f"{manager.path} is of another store or installation"
    warnings = (f"{fault}; `memory service install` writes it again.",)
    return service_state(OUTDATED, is_running=is_running, warnings=warnings, text=text)


def read_keys(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the variables in `service.env`, which has lines `NAME=value`.

    Raises `SettingsError` if other users may read the file.
    """
    path = _keys_file(environ)
    if not path.is_file():
        return {}
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise SettingsError(f"Other users may read the keys in {path}. Run `chmod 600 '{path}'`.")
    keys = {}
    for line in path.read_text("utf-8").splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            keys[name.strip()] = value.strip().strip("'\"")
    return keys


def _keys_file(environ: Mapping[str, str]) -> Path:
    return Path(user_settings_file(environ)).with_name(KEYS_FILE)


def _manager(store: Path, port: int | None, host: Platform) -> _Manager:
    """Returns the platform's manager; raises `StoreError` for platforms without a known one."""
    words = [*command(), "service", "run", "--store", str(store)]
    if port:
        words += ["--port", str(port)]
    environ = {name: host.environ[name] for name in CARRIED if host.environ.get(name)}
    if host.platform == "darwin":
        path = host.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        user_id = os.getuid() if hasattr(os, "getuid") else 0
        domain = f"gui/{user_id}"
        start = (("launchctl", "bootstrap", domain, str(path)),)
        stop = (("launchctl", "bootout", f"{domain}/{LABEL}"),)
        text = _launch_agent(words, environ, host.home, log_path(store))
        return _Manager(path, text, start, stop, ("launchctl", "print", f"{domain}/{LABEL}"))
    if host.platform.startswith("linux"):
        folder = application_folder("settings", host.platform, host.environ, host.home)
        path = Path(folder, "systemd", "user", UNIT)
        start = (RELOAD, ("systemctl", "--user", "enable", "--now", UNIT))
        stop = (("systemctl", "--user", "disable", "--now", UNIT),)
        ask = ("systemctl", "--user", "is-active", "--quiet", UNIT)
        return _Manager(path, _unit(words, environ), start, stop, ask)
    raise StoreError(
        f"There is no service for {host.platform} yet: systemd and launchd are supported. "
        f"Start this at login: {' '.join(words)}"
    )


def _unit(words: Sequence[str], environ: Mapping[str, str]) -> bytes:
    """Returns the text of the systemd unit."""
    pairs = (_quoted(f"{name}={value}") for name, value in environ.items())
    variables = "".join(f"Environment={pair}\n" for pair in pairs)
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
    """Returns the text as one quoted word of a systemd unit."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def _launch_agent(words: Sequence[str], environ: Mapping[str, str], home: Path, log: Path) -> bytes:
    """Returns the property list of the launch agent.

    Errors before the service opens its log are written into a file beside the log.
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
    """Returns the path of the store as the file of the service has it."""
    return f"<string>{store}</string>" if platform == "darwin" else _quoted_word(str(store))


def _is_running(manager: _Manager, run: Run) -> bool:
    return run(manager.ask)[0] == 0


def _run_all(commands: Sequence[Sequence[str]], run: Run) -> tuple[str, ...]:
    """Runs the commands until one fails; returns a warning with the commands to run by hand."""
    for number, words in enumerate(commands):
        code, output = run(words)
        if code:
            why = output.splitlines()[0] if output else f"exit code {code}"
            by_hand = "; ".join(map(" ".join, commands[number:]))
            failure = f"`{' '.join(words)}` failed ({why})"
            return (f"{failure}. The file is written; run by hand: {by_hand}",)
    return ()


def _warn_of_shell(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Returns warnings of settings and keys that only this shell has: the service has them not."""
    in_files = {name for file in settings_files(environ) for name in read_file(file)}
    is_in_bucket = "store" in in_files or bool(environ.get("MEMORY_STORE"))
    secrets = (*KEYS, *OF_OBJECT_STORE) if is_in_bucket else KEYS
    keys = sorted(filter(environ.get, secrets))
    ignored = {"MEMORY_DATA", "MEMORY_DEBUG", *keys}
    variables = {name for name in environ if name.startswith("MEMORY_") and environ[name]}
    unseen = [
        name for name in variables - ignored if name.removeprefix("MEMORY_").lower() not in in_files
    ]
    warnings = ()
    if unseen:
        names = ", ".join(sorted(unseen))
        problem = "Only set in this shell, which the service does not see"
        warnings += (f"{problem}: {names}. Write them into memory.toml.",)
    if keys:
        file = _keys_file(environ)
        names = ", ".join(keys)
        warnings += (f"The service reads keys from {file}, not from this shell: {names}.",)
    return warnings
