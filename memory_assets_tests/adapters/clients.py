"""Stand-ins for the clients of harnesses: executables that print what a test wants, and note how they were called."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

SCRIPT = """#!{python}
import json, os, pathlib, signal, subprocess, sys, time
plan = json.loads(pathlib.Path({plan!r}).read_text())
call = {{"arguments": sys.argv[1:], "input": sys.stdin.read(), "folder": os.listdir(), "environ": dict(os.environ), "at": time.time()}}
call["files"] = {{word: open(word).read() for word in sys.argv[1:] if os.path.isfile(word)}}
with open({calls!r}, "a") as file:
    file.write(json.dumps(call) + "\\n")
if plan.get("child"):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pathlib.Path(plan["child"]).write_text(str(child.pid))
time.sleep(plan.get("seconds", 0))
if plan.get("signal"):
    os.kill(os.getpid(), plan["signal"])
if "-o" in sys.argv and "answer" in plan:
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text(plan["answer"])
sys.stdout.write(plan.get("out", ""))
sys.stderr.write(plan.get("err", ""))
with open({calls!r}, "a") as file:
    file.write(json.dumps({{"ended": time.time()}}) + "\\n")
sys.exit(plan.get("exit_code", 0))
"""


class FakeClient:
    """An executable on a search path of its own."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder / "bin"
        self._plan, self._calls = folder / f"{program}.plan.json", folder / f"{program}.calls.jsonl"
        self.folder.mkdir(exist_ok=True)
        path = self.folder / program
        path.write_text(
            SCRIPT.format(python=sys.executable, plan=str(self._plan), calls=str(self._calls))
        )
        path.chmod(path.stat().st_mode | stat.S_IEXEC)

    def does(self, **plan: Any) -> None:
        """Sets what the client does: prints `out` and `err`, ends with `exit_code`, or is killed by `signal`."""
        self._plan.write_text(json.dumps(plan))

    def calls(self) -> list[dict[str, Any]]:
        """Returns how it was called: arguments, input, files in its folder and among its arguments, environment."""
        return [entry for entry in self._entries() if "arguments" in entry]

    def ends(self) -> list[float]:
        """Returns when each call ended by itself."""
        return [entry["ended"] for entry in self._entries() if "ended" in entry]

    def _entries(self) -> list[dict[str, Any]]:
        return (
            [json.loads(line) for line in self._calls.read_text().splitlines()]
            if self._calls.exists()
            else []
        )
