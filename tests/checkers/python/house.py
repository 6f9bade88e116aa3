"""A database of its own with the project `ledger`, and servers over it: the real program, and nothing else of ours.

run.sh says by environment variables where the program is and where files may be written.
"""

import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

SERVER = os.environ["CHECKERS_SERVER"]
WORK = Path(os.environ["CHECKERS_WORK"])
STDIO = [SERVER, "mcp", "--project", "ledger"]


class House:
    def __init__(self, name):
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=WORK))
        self.database = self.folder / "heyaira.db"
        self.environment = os.environ | {"HEYAIRA_DATABASE": str(self.database), "HEYAIRA_PROJECT": "ledger"}
        self.cli("init")
        self.cli("project", "create", "ledger")
        self.write_context = self.cli("profile", "ledger")["write_context"]

    def cli(self, *arguments):
        """Runs a command of the program, which has to succeed, and returns what it answers."""
        command = [SERVER, *arguments, "--json"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments[:2])} failed: {done.stderr or done.stdout}")
        return json.loads(done.stdout)

    def task(self, title):
        write = ["--write-context", self.write_context, "--summary", "Nothing is written yet."]
        return self.cli("task", "create", "--title", title, *write)["task_id"]

    def memory(self, summary):
        write = ["--write-context", self.write_context, "--kind", "fact"]
        return self.cli("memory", "add", "--summary", summary, *write)["id"]

    def token(self):
        return self.cli("token", "create", "checker", "--project", "ledger")["token"]

    @contextmanager
    def served(self, *arguments):
        """The address of a server that stops with success at the end."""
        command = [SERVER, "serve", "--listen", "127.0.0.1:0", "--json", *arguments]
        with open(self.folder / "serve.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield f"http://{json.loads(process.stdout.readline())['listening']}"
        finally:
            process.terminate()
            code = process.wait(timeout=30)
        if code != 0:
            raise SystemExit(f"the server ended with {code}: {self.folder / 'serve.log'}")


def installed(program):
    """A program of the environment that runs this."""
    return str(Path(os.environ["CHECKERS_PROGRAMS"]) / program)


def run(command, environment, folder):
    """Runs a checker and returns how it ended; what it says goes to a file as well, to be read after a failure."""
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    (folder / f"{Path(command[0]).name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return done
