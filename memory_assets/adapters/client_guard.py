"""Runs a command and kills it when the parent process ends, even if the parent is killed:
`client_guard.py FOLDER COMMAND...`.

The command gets `question.txt` in FOLDER on its input, through a pipe: some clients do not read
from a file. The guard's own input is a pipe to which its parent never writes. When that pipe is
closed, the parent ended or gave up: the guard kills the command with all its children and deletes
FOLDER. Standard library only: it is started as a file, without the package.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Runs the command and returns its exit code; 128 plus the number of the signal if it was
    killed.
    """
    folder, *command = sys.argv[1:]
    question = pathlib.Path(folder, "question.txt").read_bytes()
    client = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=os.name == "posix")
    has_given_up = threading.Event()
    watcher = threading.Thread(
        target=_watch_parent, args=(client, folder, has_given_up), daemon=True
    )
    watcher.start()
    client.communicate(question)
    code = client.returncode
    if has_given_up.is_set():
        watcher.join()  # the folder is deleted before this process ends
    _kill(client)  # its children that still run
    return 128 - code if code < 0 else code


def _watch_parent(
    client: "subprocess.Popen[bytes]", folder: str, has_given_up: threading.Event
) -> None:
    """Waits until the parent closes the pipe, then kills the command and deletes the folder."""
    while os.read(0, 1):
        pass
    has_given_up.set()
    _kill(client)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _kill(client: "subprocess.Popen[bytes]") -> None:
    try:
        if os.name == "posix":
            os.killpg(client.pid, signal.SIGKILL)
        else:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(client.pid)], capture_output=True)
    except OSError:
        return  # it ended by itself


if __name__ == "__main__":
    sys.exit(main())
