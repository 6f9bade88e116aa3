"""amagi-mcp-probe: every tool called with arguments that make sense has to succeed, over both transports.

Its warnings count as failures, and none is passed over.
"""

import json

from house import STDIO, House, installed, run

TOOLS = 11


def arguments(house):
    """For each tool one call with every argument that goes with the others; a later call finds what an earlier left."""
    write = {"write_context": house.write_context}
    task, other, memory = house.task("Import statements"), house.task("Export statements"), house.memory("Old.")
    handed_off = {"handoff_next": "cargo test -p import", "handoff_completed": "Repository acme/ledger, base 4c19e7a."}
    receipt = {"session_ref": "label:probe", "harness": "probe", "model": "none", "completed_work": "A parser."}
    receipt |= {"branch": "main", "base_commit": "4c19e7a", "result_commit": "9f3b2d1", "tests": "148 passed, 0 failed"}
    return {
        "server_identity": {},
        "continuity_context": {"handoff": f"handoff: {task[:8]} v1", "session_ref": "label:probe"},
        "task_list": {"status": "todo", "query": "statements", "sort": "created", "limit": 5},
        "task_get": {"task_id": task, "version": 1},
        "task_create": write | {"title": "Reconcile", "summary": "Not begun.", "depends_on": [task], "tags": ["bank"]},
        "task_update": write
        | {"task_id": task, "expected_version": 1, "summary": "Half done.", "work_receipt": receipt}
        | {"status": "in_progress", **handed_off},
        "task_takeover": write | {"task_id": other, "expected_version": 1, "session_ref": "label:probe"},
        "handoff_check": {"task_id": task},
        "memory_add": write
        | {"kind": "decision", "summary": "Amounts are integers.", "body": "All.", "task_id": task, "supersedes": memory},
        "memory_search": {"query": "integers", "kind": "decision", "task_id": task},
        "message_send": write | {"to": other, "session_ref": "label:other", "text": "The bank changed its format."},
    }


def probe(house, target):
    file = house.folder / "arguments.json"
    file.write_text(json.dumps(arguments(house)), encoding="utf-8")
    options = ["--strict", "--allow-destructive", "--format", "json", "--args", str(file)]
    done = run([installed("amagi-mcp-probe"), *options, *target], house.environment, house.folder)
    [server] = json.loads(done.stdout)["servers"]
    findings = server["findings"] + [finding for tool in server["tools"] for finding in tool["findings"]]
    passed = [tool["name"] for tool in server["tools"] if tool["status"] == "pass"]
    if done.returncode != 0 or findings or len(passed) != TOOLS:
        raise SystemExit(f"passed: {passed}\nfindings: {json.dumps(findings, indent=1)}")


def main():
    over_stdio = House("probe-stdio")
    database = f"HEYAIRA_DATABASE={over_stdio.database}"
    probe(over_stdio, ["--env", database, "--", *STDIO])
    over_http = House("probe-http")
    with over_http.served() as address:
        credential = f"Authorization: Bearer {over_http.token()}"
        probe(over_http, ["--header", credential, "--url", f"{address}/mcp/ledger"])


if __name__ == "__main__":
    main()
