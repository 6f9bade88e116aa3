"""Stands between an MCP client and its stdio server and keeps every line that passes.

    record.py RECORD COMMAND [ARGUMENT...]

RECORD is appended to, one JSON object a line:
    {"start": COMMAND}, {"client": LINE}, {"server": LINE}, {"end_of_input": true},
    {"exit": CODE, "seconds": TIME SINCE THE END OF INPUT OR NULL}

Only the standard library is used, and no line is changed, so that the record is what was said.
"""

import json
import os
import subprocess
import sys
import threading
import time


class Record:
    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8")
        self._lock = threading.Lock()

    def add(self, **entry):
        with self._lock:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()


class Recorder:
    def __init__(self, path, command):
        self._record = Record(path)
        self._record.add(start=command)
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._input_ended_at = None

    def run(self):
        threading.Thread(target=self._client_to_server, daemon=True).start()
        self._server_to_client()
        code = self._server.wait()
        self._record.add(exit=code, seconds=self._seconds_since_end_of_input())
        return code

    def _client_to_server(self):
        try:
            for line in sys.stdin.buffer:
                # Recorded before it is passed on: an answer can then never stand before its question.
                self._record.add(client=line.decode("utf-8").rstrip("\n"))
                self._server.stdin.write(line)
                self._server.stdin.flush()
            self._record.add(end_of_input=True)
            self._input_ended_at = time.monotonic()
            self._server.stdin.close()
        except BrokenPipeError:
            pass  # The server is gone; its exit is recorded by the other direction.

    def _server_to_client(self):
        try:
            for line in self._server.stdout:
                self._record.add(server=line.decode("utf-8").rstrip("\n"))
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        except BrokenPipeError:
            self._server.stdout.close()  # The client is gone: the server must notice that by itself.

    def _seconds_since_end_of_input(self):
        if self._input_ended_at is None:
            return None
        return round(time.monotonic() - self._input_ended_at, 3)


if __name__ == "__main__":
    exit_code = Recorder(sys.argv[1], sys.argv[2:]).run()
    # Not sys.exit: the thread that reads from the client may still wait for a line.
    os._exit(exit_code if exit_code >= 0 else 1)
