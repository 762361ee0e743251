"""Tokens and shared servers on the command line: what is printed once, and which servers do not start."""

import ssl
import subprocess
import sys
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from memory_assets.errors import UnreachableError
from memory_assets.extras.sharing.cli import SharedOptions
from memory_assets.extras.sharing.tokens import AccessTokens
from memory_assets.interfaces.cli import serve
from memory_assets.interfaces.cli.app import main
from memory_assets.interfaces.ports import free_port
from memory_assets.memory import MemoryAgent
from memory_assets_tests.certificates import certificate
from memory_assets_tests.small_store import small_store

ADA = "serve tokens create laptop --person Ada --project shop --scope read --scope write".split()


def test_a_token_is_printed_once_listed_without_its_secret_and_revoked(
    capsys: pytest.CaptureFixture[str],
):
    store = small_store()
    assert main(ADA) == 0
    said = capsys.readouterr().out
    secret = said.splitlines()[-1]
    assert "of Ada in shop, read, write" in said and secret.startswith("memtok_")
    token = AccessTokens(store.root).find(secret)
    assert token
    for words in (
        ["serve", "tokens", "list"],
        ["serve", "tokens", "list", "--json"],
        ["serve", "tokens", "revoke", token.id],
    ):
        assert main(words) == 0
        said = capsys.readouterr().out
        assert token.id in said and secret not in said and token.sha256 not in said
    assert AccessTokens(store.root).find(secret) is None


@pytest.mark.parametrize("door", [["http"], ["mcp", "--http"]])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "Serve it with --shared"),
        (["--host", "::"], "Serve it with --shared"),
        (["--host", "0.0.0.0", "--write"], "Serve it with --shared"),
        (["--shared"], "There is no valid token"),
        (["--tls-cert", "cert.pem"], "belong to --shared"),
        (["--public-name", "memory.example"], "belong to --shared"),
    ],
)
def test_what_would_be_open_or_useless_does_not_start(
    door: list[str],
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    small_store()
    monkeypatch.setattr(serve.ports, "listen", lambda *_: pytest.fail("it listens"))
    assert main(["serve", *door, *words]) == 2
    assert told in capsys.readouterr().err


def test_a_shared_server_without_http_or_with_half_of_tls_does_not_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    small_store()
    main(ADA)
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    for words, told in (
        (["mcp", "--shared"], "--shared needs --http"),
        (["http", "--shared", "--tls-cert", str(broken)], "needed together"),
        (["http", "--shared", "--tls-cert", str(broken), "--tls-key", str(broken)], "for TLS"),
        (["http", "--shared", "--tls-cert", "missing.pem", "--tls-key", "missing.pem"], "for TLS"),
    ):
        capsys.readouterr()
        assert main(["serve", *words]) == 2
        assert told in " ".join(capsys.readouterr().err.split())


def test_beyond_loopback_without_tls_a_shared_server_warns(tmp_path: Path):
    small_store()
    main(ADA)
    cert = Path(certificate(tmp_path)[0])
    encrypted = SharedOptions(shared=True, tls_cert=cert, tls_key=tmp_path / "key.pem")
    plain = serve.http(host="0.0.0.0", port=3400, options=[SharedOptions(shared=True)])
    secure = serve.http(host="0.0.0.0", port=3401, options=[encrypted])
    assert [one.startswith("Other machines can reach") for one in plain.warnings] == [True]
    assert "--public-name NAME" in str([*secure.parts][-1])
    assert ([*secure.warnings], secure.data["url"].startswith("https://")) == ([], True)


@pytest.mark.slow
def test_over_tls_it_answers_to_its_names_and_to_clients_that_trust_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    small_store()
    main(ADA)
    secret = capsys.readouterr().out.splitlines()[-1]
    cert, key = certificate(tmp_path)
    words = [
        "--host",
        "0.0.0.0",
        "--port",
        str(free_port(3450)),
        "--public-name",
        "memory.test",
        "--tls-cert",
        cert,
    ]
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "memory_assets.interfaces.entry",
            "serve",
            "http",
            "--shared",
            *words,
            "--tls-key",
            key,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout
            port = int(server.stdout.readline().split("0.0.0.0:")[1].split("/")[0])
            assert (
                server.stdout.readline() == "It answers to its IP addresses and to memory.test.\n"
            )
            trusting = ssl.create_default_context(cafile=cert)
            asked = {"Authorization": f"Bearer {secret}"}
            for name, status in (("memory.test", 200), ("127.0.0.1", 200), ("other.test", 403)):
                connection = HTTPSConnection("127.0.0.1", port, context=trusting, timeout=30)
                connection.request(
                    "GET", "/recall?question=port", headers={**asked, "Host": f"{name}:{port}"}
                )
                assert connection.getresponse().status == status, name
                connection.close()
            with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
                MemoryAgent(url=f"https://127.0.0.1:{port}", token=secret).recall("port")
        finally:
            server.terminate()
