"""Reads what the recorders in job/ kept, and checks that the protocol was really spoken that way."""

import json
from pathlib import Path

from expect import expect, expect_equal

MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
LONGEST_GOODBYE_SECONDS = 2.0


class Conversation:
    """One session: the messages of both sides, and how its process ended or what stood beside its messages."""

    def __init__(self, path: Path):
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        entries = [entry for entry in entries if entry.get("method", "POST") == "POST"]
        self.client = [json.loads(entry["client"]) for entry in entries if "client" in entry]
        self.server = [server_message(entry["server"]) for entry in entries if entry.get("server")]
        self.headers = [entry["headers"] for entry in entries if "headers" in entry]
        self.exit = next((entry for entry in entries if "exit" in entry), None)

    @property
    def requests(self):
        return [message for message in self.client if "id" in message and "method" in message]

    def answer_to(self, request):
        answers = [message for message in self.server if message.get("id") == request["id"] and "method" not in message]
        expect_equal(f"answers to {request['method']}", len(answers), 1)
        return answers[0]

    def tool_calls(self):
        return [request["params"]["name"] for request in self.requests if request["method"] == "tools/call"]


def server_message(line):
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    is_protocol = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
    expect(is_protocol, f"the server wrote something else than protocol to stdout: {line!r}")
    return message


def expect_modern(conversation):
    """2026-07-28 from the first byte on: no handshake, every request says its version."""
    expect(conversation.requests, "the client sent nothing")
    for request in conversation.requests:
        method = request["method"]
        expect(method != "initialize", "the client fell back to the handshake of the older protocol")
        spoken = request.get("params", {}).get("_meta", {}).get(VERSION_KEY)
        expect_equal(f"protocol version of {method} on the wire", spoken, MODERN)
        answer = conversation.answer_to(request)
        expect("result" in answer, f"{method} was answered with an error: {answer}")
        expect_equal(f"resultType of {method}", answer["result"].get("resultType"), "complete")

    discover = conversation.requests[0]
    expect_equal("first request", discover["method"], "server/discover")
    supported = conversation.answer_to(discover)["result"]["supportedVersions"]
    expect(MODERN in supported, f"server/discover does not offer {MODERN}: {supported}")


def expect_modern_headers(conversation):
    """What HTTP says beside each message: the credential, the version and the method."""
    for message, headers in zip(conversation.client, conversation.headers, strict=True):
        method = message["method"]
        expect_equal(f"credential beside {method}", headers.get("authorization"), "Bearer")
        expect_equal(f"protocol version beside {method}", headers.get("mcp-protocol-version"), MODERN)
        expect_equal("method beside the message", headers.get("mcp-method"), method)


def expect_clean_exit(conversation):
    expect(conversation.exit is not None, "the server had to be killed: it did not leave at the end of its input")
    expect_equal("exit code of the server", conversation.exit["exit"], 0)
    seconds = conversation.exit["seconds"]
    expect(seconds is not None, "the server left before the end of its input")
    expect(seconds < LONGEST_GOODBYE_SECONDS, f"the server took {seconds} s to leave after the end of its input")
