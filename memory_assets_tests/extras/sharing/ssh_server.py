"""OpenSSH's server on the loopback interface, as an unprivileged process with keys and a configuration of its own."""

import getpass
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_assets_tests.extras.scaling.servers import _running, free_port

ENTRY = "memory_assets.interfaces.entry"
HOST = "desktop"
"""The name by which the client's configuration knows the server."""


@dataclass(frozen=True)
class SshServer:
    """A running server."""

    folder: Path
    port: int

    @property
    def client(self) -> str:
        """The command of a client that trusts the server and is trusted by it."""
        return f"ssh -F {self.folder / 'client'}"


def needs_sshd() -> str:
    """Returns the path of the server; skips the test where OpenSSH is not installed."""
    sshd = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
    if not sshd or not shutil.which("ssh"):
        pytest.skip("OpenSSH's server or client is not installed")
    return sshd


def memory_command(data: Path, home: Path, *, before: str = "", dies_at: int = 0) -> str:
    """Returns how to run `memory` for a machine with this store and home."""
    environment = {
        "MEMORY_DATA": data,
        "HOME": home,
        "MEMORY_OWNER": "Mira",
        "MEMORY_TIMEZONE": "UTC",
        "MEMORY_NOW": os.environ.get("MEMORY_NOW", ""),
        "PYTHONPATH": Path(__file__).parents[3],
    }
    words = [f"{name}={shlex.quote(str(value))}" for name, value in environment.items()]
    module = f"memory_assets_tests.extras.sharing.mortal {dies_at}" if dies_at else ENTRY
    return f"{before}env {' '.join(words)} {sys.executable} -m {module}"


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Yields a server that lets this user in."""
    sshd = needs_sshd()
    folder.mkdir()
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    port = free_port()
    host_key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host_key}\n")
    (folder / "server").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\nPidFile none\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
    )
    (folder / "client").write_text(
        f"Host {HOST}\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n"
        f"  IdentityFile {folder / 'user'}\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder / 'known'}\n  GlobalKnownHostsFile /dev/null\n"
        "  BatchMode yes\n  LogLevel ERROR\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where the server of root separates privileges
    command = [sshd, "-D", "-e", "-f", folder / "server"]
    with _running(
        command, lambda: socket.create_connection(("127.0.0.1", port), 1).close(), folder / "work"
    ):
        yield SshServer(folder, port)
