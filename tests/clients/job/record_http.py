"""Stands between MCP clients and an HTTP server and keeps every exchange that passes.

    record_http.py FOLDER UPSTREAM

Prints the address at which it listens. What is sent to ADDRESS/NAME/PATH goes to UPSTREAM/PATH, and FOLDER/NAME.jsonl
gets one JSON object for it:
    {"method": METHOD, "headers": HEADERS, "client": BODY, "status": STATUS, "server": BODY}

The credential is kept out of the record, its scheme is not. Only the standard library is used, and no body is changed.
"""

import http.client
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

# Of one connection alone, or made anew for the next one.
OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
TIMEOUT_SECONDS = 30


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is written in two parts, and must not wait for the first to be acknowledged.
    disable_nagle_algorithm = True
    folder: Path
    upstream: str
    lock = threading.Lock()

    def pass_on(self):
        name, path = self.path.lstrip("/").split("/", 1)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = http.client.HTTPConnection(self.upstream, timeout=TIMEOUT_SECONDS)
        upstream.request(self.command, f"/{path}", body, passed_on(self.headers.items()))
        answer = upstream.getresponse()
        answered = answer.read()
        upstream.close()
        # Recorded before it is passed on: a client that has its answer can rely on the record.
        self._record(name, body, answer.status, answered)
        self.send_response_only(answer.status)
        for header, value in passed_on(answer.getheaders()).items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(answered)))
        self.end_headers()
        self.wfile.write(answered)

    do_GET = do_POST = do_DELETE = pass_on

    def _record(self, name, body, status, answered):
        headers = {header.lower(): value for header, value in self.headers.items()}
        if "authorization" in headers:
            headers["authorization"] = headers["authorization"].split(" ")[0]
        entry = {"method": self.command, "headers": headers, "client": body.decode("utf-8"), "status": status}
        with self.lock, open(self.folder / f"{name}.jsonl", "a", encoding="utf-8") as record:
            record.write(json.dumps(entry | {"server": answered.decode("utf-8")}) + "\n")

    def log_message(self, *_):
        pass


def passed_on(headers):
    return {header: value for header, value in headers if header.lower() not in OF_THE_CONNECTION}


if __name__ == "__main__":
    Exchange.folder = Path(sys.argv[1])
    Exchange.upstream = urlsplit(sys.argv[2]).netloc
    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
