"""mcp-fuzzer: tools, resources, prompts and bare protocol, over both transports.

It ends with success whatever it finds, so that its findings are read and judged here, one by one. It calls every answer
to an input that it thought of as an attack a finding, lawful inputs included: whether an input was lawful is therefore
asked of the published schemas. A finding without an answer below fails.
"""

import json
from collections import Counter
from urllib.request import Request, urlopen

from jsonschema import Draft202012Validator

from house import STDIO, House, installed, run

SEED = 7
PHASES = ("realistic", "aggressive")
LISTS = {"tools/list", "resources/list", "prompts/list", "resources/templates/list"}
HANDSHAKES = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
# What the fuzzer writes down in the place of an answer.
NOTIFIED = "notification_sent"
QUOTED = "a refusal quotes what it refuses, shortened and in a JSON string: nobody renders it as markup"
REQUESTS_BY_NAME = {"CallToolRequest", "GetPromptRequest", "ReadResourceRequest"}
FIRST_PAGE = ("", None)
ACCEPTED = "application/json, text/event-stream"


def lawful_arguments(schemas, name, arguments):
    """By the schema that is published. An argument that says nothing counts as not given: docs/tools.md."""
    said = {argument: value for argument, value in arguments.items() if value not in ("", None)}
    return not list(Draft202012Validator(schemas[name]).iter_errors(said))


def answer_to_tool(schemas, finding):
    if finding["category"] == "injection_reflection":
        return QUOTED
    if finding["category"] == "accepted_malformed":
        if lawful_arguments(schemas, finding["target"], finding["evidence"]["input"]):
            return "the arguments are lawful by the schema of the tool"
    return None


def answer_to_protocol(schemas, finding):
    if finding["category"] == "injection_reflection" and finding["target"] in REQUESTS_BY_NAME:
        return QUOTED
    if finding["category"] != "accepted_malformed":
        return None
    message = finding["evidence"]["input"]
    method, params = message["method"], message.get("params") or {}
    if NOTIFIED in json.dumps(finding["evidence"]["result"]):
        return "a notification has no answer, so that there is none that could be an error"
    if method == "initialize" and params["protocolVersion"] not in HANDSHAKES:
        return "a version that is not known is answered with the newest one that has a handshake, as specified"
    if method == "ping":
        return "a ping is answered, whatever its metadata"
    if method in LISTS and params.get("cursor") in FIRST_PAGE:
        return "the first page is asked for; members of params that nobody defined are ignored, as specified"
    if method == "resources/read" and params["uri"].startswith("heyaira://procedures/"):
        return "the resource is one of those that are listed"
    if method == "prompts/get" and params["name"] in ("write-session-handoff", "take-over-session"):
        return "the prompt is one of those that are listed, and its argument is optional"
    if method == "tools/call":
        if finding["evidence"]["result"]["response"]["isError"]:
            return "the call was refused, as a result with isError"
        if lawful_arguments(schemas, params["name"], params["arguments"]):
            return "the arguments are lawful by the schema of the tool"
    return None


def fuzz(house, schemas, phase, transport):
    folder = house.folder / phase
    folder.mkdir()
    options = ["--mode", "all", "--phase", "both", "--protocol-phase", phase, "--runs", "5", "--runs-per-type", "2"]
    options += ["--seed", str(SEED), "--no-network", "--no-corpus", "--output-dir", str(folder), "--fs-root", str(folder)]
    run([installed("mcp-fuzzer"), *options, *transport], house.environment, folder)
    summary = json.loads((folder / "run_summary.json").read_text(encoding="utf-8"))
    if summary["status"] != "completed" or summary["tool_discovery"]["tool_count"] != len(schemas):
        raise SystemExit(f"the fuzzer did not do its work: {folder}")
    return json.loads((folder / "findings.json").read_text(encoding="utf-8"))["findings"]


def judge(schemas, findings):
    answers = Counter()
    for finding in findings:
        answer_to = answer_to_tool if finding["kind"] == "tool" else answer_to_protocol
        answer = answer_to(schemas, finding)
        if answer is None:
            raise SystemExit(f"a finding without an answer: {json.dumps(finding, indent=1)}")
        answers[answer] += 1
    return answers


def expect_unharmed(house):
    """Nothing it sent carried the string that a write needs."""
    house.cli("verify")
    written = house.cli("task", "list")["total"] + house.cli("memory", "search")["total"]
    if written != 0:
        raise SystemExit(f"{written} tasks and memories were written without a write_context")


def published_schemas(address, token):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": ACCEPTED}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    with urlopen(Request(f"{address}/mcp/ledger", body, headers), timeout=30) as answer:
        tools = json.load(answer)["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in tools}


def fuzz_over(name):
    house = House(f"fuzzer-{name}")
    answers = Counter()
    with house.served() as address:
        token = house.token()
        schemas = published_schemas(address, token)
        transport = ["--protocol", "stdio", "--endpoint", " ".join(STDIO)]
        if name == "http":
            house.environment["MCP_API_KEY"] = token
            transport = ["--protocol", "streamablehttp", "--endpoint", f"{address}/mcp/ledger", "--auth-env"]
        for phase in PHASES:
            answers += judge(schemas, fuzz(house, schemas, phase, transport))
    expect_unharmed(house)
    return answers


def main():
    answers = fuzz_over("stdio") + fuzz_over("http")
    for answer, times in answers.most_common():
        print(f"    {times:3} findings: {answer}")


if __name__ == "__main__":
    main()
