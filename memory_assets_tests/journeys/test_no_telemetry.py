"""No part of the program reports to anybody: traced at the system, in an empty network, and by what it leaves in the home folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.once import TEST_ALL
from memory_assets_tests.story import environment, lay_out_sample

ADDRESS = re.compile(r"sa_family=AF_INET6?,.*?(?:inet_addr\(\"|inet_pton\(AF_INET6, \")([^\"]+)\"")
LOOPBACK = re.compile(r"127\.\d+\.\d+\.\d+|::1|::ffff:127\.|0\.0\.0\.0")
INGEST = "main(['ingest'])"
INDEX = "index(small_store()); import memory_assets.definitions"
WORK = """
import sys, time
from memory_assets.interfaces.entry import main
from memory_assets_tests.small_store import index, small_store
{work}
code = main(['recall', 'how do we install packages', '--probe']) or main(['status'])
time.sleep(3)  # libraries report from threads of their own
sys.exit(code)
"""


def test_libraries_that_report_by_default_are_switched_off_in_every_process(tmp_path: Path):
    code = "import memory_assets, onnxruntime; from os import environ as e; print(e['ORT_DISABLE_TELEMETRY'], e['ANONYMIZED_TELEMETRY'])"
    variables = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "False"]
    assert [
        path
        for path in tmp_path.rglob("*")
        if "deviceid" in path.name or "onnxruntime" in path.name
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("work", [INDEX, *([INGEST] if TEST_ALL else [])])
def test_work_and_questions_in_an_empty_network_try_to_reach_nobody_and_leave_nothing_in_the_home(
    tmp_path: Path, work: str
):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("network namespaces are not allowed here")
    sources, trace, home = (
        lay_out_sample(tmp_path / "sources", "/pi/"),
        tmp_path / "trace",
        tmp_path / "home",
    )
    words = "strace -f --seccomp-bpf -qq -e trace=connect,sendto,sendmsg,sendmmsg -s 0 -o"
    traced = [*words.split(), str(trace)]
    done = subprocess.run(
        ["unshare", "-rn", *traced, sys.executable, "-c", WORK.format(work=work)],
        env=environment(tmp_path / "store", sources, HOME=str(home), PYTHONPATH=str(REPOSITORY)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    reached = {found for line in trace.read_text().splitlines() for found in ADDRESS.findall(line)}
    assert {address for address in reached if not LOOPBACK.match(address)} == set()
    assert [path for path in home.rglob("*") if path.is_file()] == []
