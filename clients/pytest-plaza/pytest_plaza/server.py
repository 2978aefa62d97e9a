"""The server that the tests use: the one that the environment names, or one that this module starts for the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from .control import Connection

_NAMES = ["base_url", "app_base_url", "microblog_base_url", "ads_base_url", "social_login_host"]

# A program that `plaza exec` runs: it prints the environment variables with the server's addresses, and ends when its input closes. However
# pytest ends, that input closes then, so this program ends, and the server ends with it.
_TELL = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.stdin.read()"


class Server:
    """A context with a server. A server that this module started ends with the context."""

    def __init__(self, program: str | None, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._running: subprocess.Popen[str] | None = None

    def __enter__(self) -> Server:
        variables = os.environ if "PLAZA_CONTROL_KEY" in os.environ and "PLAZA_BASE_URL" in os.environ else self._start()
        self.addresses = {name: variables.get(f"PLAZA_{name.upper()}", variables["PLAZA_BASE_URL"]) for name in _NAMES}
        self.connection = Connection(variables["PLAZA_CONTROL_URL"], variables["PLAZA_CONTROL_KEY"])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._running is not None:
            self._running.communicate()

    @cached_property
    def first_world(self) -> Any:
        """The server's first world when the first test starts. It includes the secrets, which the tests and the code under test know."""
        return self.connection.send("GET", "worlds/default/export?secrets=true")

    def _start(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PLAZA_")}
        command = [self._find(), "exec", "--", sys.executable, "-c", _TELL]
        self._running = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._running.stdout is not None
        line = self._running.stdout.readline()
        if line == "":
            raise RuntimeError(f"{command[0]} ended with {self._running.wait()} before its server was ready")
        return json.loads(line)

    def _find(self) -> str:
        installed = self._folder / "node_modules/.bin/plaza"
        program = self._program or os.environ.get("PLAZA_PROGRAM") or shutil.which("plaza") or (str(installed) if installed.exists() else None)
        if program is None:
            raise RuntimeError("there is no plaza on PATH and none in node_modules: run npm install --save-dev plaza-graph, or name the program with --plaza-program, e.g. bin/plaza of a clone")
        return program
