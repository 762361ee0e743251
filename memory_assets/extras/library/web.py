"""Fetches one URL within limits: time, size, type, redirects, robots.txt, no private network.

The name of the host is resolved here, and the connection goes to the IP address that was checked,
so that another answer of a name server cannot lead elsewhere. Each redirect is checked like the
first URL. Proxies and credentials of the environment are not used.
"""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import FetchError

AGENT = "memory_assets"
"""Name in the header `User-Agent`, and in the rules of robots.txt."""

MOST_BYTES = 10_000_000
MOST_ROBOTS_BYTES = 500_000
MOST_SECONDS = 30.0
MOST_REDIRECTS = 5
PAGES = ("text/html", "application/xhtml+xml", "text/plain", "text/markdown")
FEEDS = (
    "application/rss+xml", "application/atom+xml", "application/xml", "text/xml",
    "application/rdf+xml", "text/html", "text/plain",
)  # fmt: skip
"""Media types that are accepted for a feed; many servers send one that is wrong."""


@dataclass(frozen=True)
class Fetched:
    """The answer to a request."""

    url: str
    """The URL after redirects."""
    content: bytes
    kind: str
    """Its media type, such as text/html."""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_unchanged: bool = False
    """The server answered that the content did not change (304), and sent none."""


def fetch(
    url: str,
    *,
    kinds: tuple[str, ...] = PAGES,
    allow_private: bool = False,
    headers: Mapping[str, str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Fetched:
    """Returns the answer of the URL; raises `FetchError` where it must not or cannot be fetched.

    `kinds` are the media types that are accepted.
    """
    client = _Client(allow_private, clock() + MOST_SECONDS, clock)
    for _ in range(MOST_REDIRECTS + 1):
        client.check_robots(url)
        answer = client.get(url, kinds, MOST_BYTES, headers or {})
        if isinstance(answer, Fetched):
            return answer
        url = answer
    raise FetchError(f"Cannot fetch {url}: it redirects more than {MOST_REDIRECTS} times.")


def check_url(url: str) -> None:
    """Raises `FetchError` for text that is no URL of the web, or that contains a login."""
    try:
        parts = urlsplit(url)
        is_plain = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        )
    except ValueError:
        is_plain = False
        parts = urlsplit("")
    if not is_plain or not url.isprintable() or " " in url:
        raise FetchError(
            f"Cannot fetch {url[:200]!r}: it is no address that begins with http:// or https://."
        )
    if parts.username or parts.password:
        raise FetchError(
            f"Cannot fetch {parts.hostname}: leave the name and the password out of the address."
        )


def checked_address(url: str, *, allow_private: bool) -> str:
    """Returns the IP address of the URL's host; raises `FetchError` for a private network."""
    check_url(url)
    return _address_of(str(urlsplit(url).hostname), urlsplit(url).port or 443, allow_private)


class _StatusError(FetchError):
    def __init__(self, url: str, status: int) -> None:
        super().__init__(f"Cannot fetch {url}: it answers {status}.")
        self.status = status


@dataclass(frozen=True)
class _Client:
    """Sends requests until the time of a fetch is over."""

    allow_private: bool
    until: float
    """Reading of the clock at which the time is over."""
    clock: Callable[[], float]

    def check_robots(self, url: str) -> None:
        """Raises `FetchError` where the robots.txt of the site excludes the URL.

        A site without robots.txt allows everything.
        """
        check_url(url)
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}/robots.txt"
        for _ in range(MOST_REDIRECTS):
            try:
                answer = self.get(place, (), MOST_ROBOTS_BYTES, {})
            except _StatusError as error:
                if error.status < 500:
                    return
                raise FetchError(
                    f"Cannot fetch {url}: {place} answers {error.status}, so nobody says what is "
                    "allowed."
                ) from None
            if isinstance(answer, Fetched):
                rules = RobotFileParser()
                rules.parse(answer.content.decode("utf-8", "replace").splitlines())
                if not rules.can_fetch(AGENT, url):
                    raise FetchError(f"Cannot fetch {url}: {place} excludes it.")
                return
            place = answer

    def get(
        self, url: str, kinds: tuple[str, ...], most_bytes: int, headers: Mapping[str, str]
    ) -> Fetched | str:
        """Returns the answer, or the URL that it redirects to; any type where `kinds` is empty."""
        try:
            import httpx
        except ImportError:
            raise FetchError(
                f"Cannot fetch {url}: the package 'httpx' is not installed. Run "
                f"`{install_command('library')}`."
            ) from None

        check_url(url)
        parts = urlsplit(url)
        standard = {"Host": parts.netloc, "User-Agent": AGENT, "Accept-Encoding": "gzip, identity"}
        pinned = _pinned(url, self.allow_private)
        timeout = max(self.until - self.clock(), 0.01)
        try:
            with (
                httpx.Client(trust_env=False, follow_redirects=False, timeout=timeout) as client,
                client.stream(
                    "GET",
                    pinned,
                    headers={**standard, **headers},
                    extensions={"sni_hostname": str(parts.hostname)},
                ) as answer,
            ):
                if answer.has_redirect_location:
                    return urljoin(url, answer.headers["location"])
                answer_headers = dict(answer.headers)
                # 304 answers the conditions in our headers; without them it is an error.
                if answer.status_code == 304 and headers:
                    return Fetched(url, b"", "", answer_headers, is_unchanged=True)
                kind = _checked_kind(url, answer.status_code, answer_headers, kinds)
                content = self._within_limits(url, answer.iter_bytes(), most_bytes)
                return Fetched(url, content, kind, answer_headers)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise FetchError(
                f"Cannot fetch {url}: {str(error) or type(error).__name__}."
            ) from error

    def _within_limits(self, url: str, pieces: Iterable[bytes], most_bytes: int) -> bytes:
        """Returns the pieces joined; raises `FetchError` beyond the limit of size or time."""
        content = b""
        for piece in pieces:
            content += piece
            if len(content) > most_bytes:
                raise FetchError(f"Cannot fetch {url}: it has more than {most_bytes / 1e6:.1f} MB.")
            if self.clock() > self.until:
                raise FetchError(
                    f"Cannot fetch {url}: it takes more than {MOST_SECONDS:.0f} seconds."
                )
        return content


def _checked_kind(url: str, status: int, headers: Mapping[str, str], kinds: tuple[str, ...]) -> str:
    """Returns the media type; raises `FetchError` for another status than 200, or another type."""
    if status != 200:
        raise _StatusError(url, status)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kinds and kind not in kinds:
        raise FetchError(
            f"Cannot fetch {url}: it is {kind or 'of no type'}; {', '.join(kinds)} are read."
        )
    return kind


def _pinned(url: str, allow_private: bool) -> str:
    """Returns the URL with the checked IP address of its host in place of the host's name."""
    parts = urlsplit(url)
    usual_port = 443 if parts.scheme == "https" else 80
    address = _address_of(str(parts.hostname), parts.port or usual_port, allow_private)
    host = f"[{address}]" if ":" in address else address
    netloc = f"{host}:{parts.port}" if parts.port else host
    return parts._replace(netloc=netloc, fragment="").geturl()


def _address_of(host: str, port: int, allow_private: bool) -> str:
    """Returns an IP address of the host; raises `FetchError` if one is of a private network."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError(
            f"Cannot fetch from {host}: its address is not known ({error})."
        ) from error
    addresses = [str(answer[4][0]) for answer in answers]
    private = [address for address in addresses if not is_public(address)]
    if private and not allow_private:
        raise FetchError(
            f"Cannot fetch from {host}: {private[0]} is an address of a private network. Allow "
            "it with --private."
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Returns whether the IP address, and an IPv4 address inside it, is of the public internet."""
    outer = ipaddress.ip_address(address.partition("%")[0])
    inner = getattr(outer, "ipv4_mapped", None) or getattr(outer, "sixtofour", None) or outer
    return outer.is_global and inner.is_global and not outer.is_multicast
