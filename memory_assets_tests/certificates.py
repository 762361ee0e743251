"""Certificates for servers that tests start with TLS."""

import subprocess
from pathlib import Path


def certificate(folder: Path, name: str = "memory.test") -> tuple[str, str]:
    """Writes a certificate for the name, and returns its file and that of its key."""
    cert = str(folder / "cert.pem")
    key = str(folder / "key.pem")
    words = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout".split()
    words += [key, "-out", cert, "-addext", f"subjectAltName=DNS:{name},IP:127.0.0.1"]
    subprocess.run(words, check=True, capture_output=True)
    return cert, key
