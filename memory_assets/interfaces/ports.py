"""The ports that servers listen on: the next free one from a given one."""

import contextlib
import ipaddress
import socket

from memory_assets.errors import StoreError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_PORTS = 100


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on the port or the next free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in range(port, min(port + MOST_PORTS, 65_536)):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, wanted))
            listening.listen(128)
            return listening
        except socket.gaierror as error:
            listening.close()
            missing = f"There is no address '{host}' on this machine: {error}"
            raise StoreError(f"{missing}. Leave --host out.") from error
        except OSError:
            listening.close()
    ports = f"No port of {host} between {port} and {port + MOST_PORTS - 1} is free"
    raise StoreError(f"{ports}; choose one with --port.")


def free_port(port: int) -> int:
    """Returns the port, or the next one of this machine that nothing listens on."""
    with listen(LOOPBACK[0], port) as listening:
        return listening.getsockname()[1]


def address_of(listening: socket.socket, *, is_secure: bool = False) -> str:
    """Returns the address for clients on this machine."""
    host, port = listening.getsockname()[:2]
    return f"{'https' if is_secure else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can connect to the address; names other than localhost
    count as reachable.
    """
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host in LOOPBACK
