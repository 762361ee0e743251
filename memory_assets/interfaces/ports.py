"""Opens the sockets that servers listen on: on the requested port, or on the next free one."""

import contextlib
import ipaddress
import socket

from memory_assets.errors import StoreError

PAGE_PORT = 3300
LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_PORTS = 100
"""Ports that are tried, beginning with the requested one."""


def listen(host: str, port: int, most_ports: int = MOST_PORTS) -> socket.socket:
    """Returns a socket that listens on the port or on the next free one.

    Raises `StoreError` for an address of another machine, and where no port is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last_port = min(port + most_ports, 65_536) - 1
    for candidate in range(port, last_port + 1):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(128)
            return listener
        except socket.gaierror as error:
            listener.close()
            missing = f"There is no address '{host}' on this machine: {error}"
            raise StoreError(f"{missing}. Leave --host out.") from error
        except OSError:
            listener.close()
    ports = f"No port of {host} between {port} and {last_port} is free"
    raise StoreError(f"{ports}; choose one with --port.")


def free_port(port: int) -> int:
    """Returns the port, or the next one of this machine that nothing listens on."""
    with listen(LOOPBACK[0], port) as listener:
        return listener.getsockname()[1]


def address_of(listener: socket.socket, *, is_secure: bool = False) -> str:
    """Returns the address for clients on this machine."""
    host, port = listener.getsockname()[:2]
    scheme = "https" if is_secure else "http"
    url_host = f"[{host}]" if ":" in host else host  # IPv6 is written in brackets
    return f"{scheme}://{url_host}:{port}"


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can connect to the address.

    Other machines count as able to connect to any name but localhost.
    """
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host in LOOPBACK
