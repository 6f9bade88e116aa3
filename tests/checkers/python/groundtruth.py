"""mcp-groundtruth: whether the hints of every tool are true, seen in the database before and after calls.

The six tools that read must leave every row as it was. The five that write must not destroy: what keeps what was said
(versions of tasks, memories, messages, receipts) must only grow. A task's row is its present state, which a change
overwrites; its former values stand in the versions. The checker cannot know that, nor that ids and times differ between
runs that do the same, and leaves these five undecided; which rows went in each run is judged here.
"""

import json
import shutil
import sqlite3
import sys
from contextlib import redirect_stdout

from house import STDIO, WORK, House

RUNS = 3
READING = ("server_identity", "continuity_context", "task_list", "task_get", "handoff_check", "memory_search")
WRITING = ("task_create", "task_update", "task_takeover", "memory_add", "message_send")
APPEND_ONLY = ("task_version", "memory", "message", "receipt", "task_session", "idempotency")
PRESENT_STATE = ("task", "task_count")
INDEXES = ("task_words_", "memory_words_")
UNDECIDED = ("NONDETERMINISTIC", "UNCLASSIFIED_STATE")
BUSINESS = ("instance", "project", "token", "task_tag", "task_dependency")

def tools(house):
    write = {"write_context": house.write_context}
    task = house.task("Import statements")
    memory = house.memory("Amounts are integers.")
    change = write | {"task_id": task, "expected_version": 1}
    return {
        "server_identity": {},
        "continuity_context": {"handoff": f"handoff: {task[:8]} v1", "session_ref": "label:reader"},
        "task_list": {"query": "statements"},
        "task_get": {"task_id": task},
        "handoff_check": {"task_id": task},
        "memory_search": {"ids": [memory]},
        "task_create": write | {"title": "Export statements", "summary": "Not begun.", "depends_on": [task]},
        "task_update": change | {"summary": "Half done.", "handoff_next": "cargo test", "description": "All."},
        "task_takeover": change | {"session_ref": "label:other"},
        "memory_add": write | {"kind": "fact", "summary": "Amounts are in minor units.", "task_id": task},
        "message_send": write | {"to": task, "text": "The bank changed its format."},
    }


def definition(called):
    """The file that `mcpgt init` would have one fill in; its values are JSON, which TOML takes as they stand."""
    lines = ["[target]", 'name = "heyaira"', 'description = "HeyAira"', f"command = {json.dumps(STDIO)}"]
    lines += ['env = {HEYAIRA_DATABASE = "{state}/heyaira.db"}']
    lines += ["[state]", 'locations = ["sqlite:heyaira.db"]']
    lines += ["[[adapters]]", 'kind = "sqlite"', 'label = "heyaira.db"', 'seed = "seed.db"']
    lines += [f"business = {json.dumps(BUSINESS)}", f"append_only = {json.dumps(APPEND_ONLY)}"]
    for name, arguments in called.items():
        lines += ["[[tools]]", f"name = {json.dumps(name)}", "[tools.arguments]"]
        lines += [f"{argument} = {json.dumps(value)}" for argument, value in arguments.items()]
    return "\n".join(lines) + "\n"


def audit(target):
    """Its program, with a seed that is a database and not a script, as a script cannot make an index of words anew.

    The virtual tables of those indexes are passed over, as the SQLite of this Python may be too old for them; what is in
    them stands in ordinary tables beside them, which are read.
    """
    from mcpgt import cli, runner, snapshot

    read_regions = snapshot.SQLiteAdapter._regions

    def without_virtual_tables(adapter, connection):
        found = connection.execute("select name from sqlite_schema where sql like 'create virtual table%'")
        passed_over = adapter.exclude.union(name for (name,) in found)
        yield from read_regions(snapshot.SQLiteAdapter(adapter.path, "", passed_over), connection)

    snapshot.SQLiteAdapter._regions = without_virtual_tables
    runner._seed_sqlite = lambda database, seed: shutil.copyfile(seed, database)
    runs = target / "runs"
    sys.argv = ["mcpgt", "run", "--audit", "--runs", str(RUNS), "--runs-dir", str(runs), str(target)]
    with open(target / "mcpgt.log", "w", encoding="utf-8") as log, redirect_stdout(log):
        code = cli.main()
    if code:
        raise SystemExit(f"mcpgt ended with {code}")
    [report] = runs.glob("*/report.json")
    return json.loads(report.read_text(encoding="utf-8"))


def verdict(report, tool, test):
    [found] = [one for one in report["tools"] if one["tool"] == tool]
    [judged] = [one for one in found["verdicts"] if one["test"] == test]
    return judged


def expect_reading(report, tool):
    judged = verdict(report, tool, "read_only")
    if judged["outcome"] != "PASS":
        raise SystemExit(f"{tool} does not only read: {json.dumps(judged['issues'])}")


def expect_nothing_destroyed(report, tool):
    judged = verdict(report, tool, "destructive")
    runs = judged["observed"]["runs"]
    is_known = judged["outcome"] == "PASS" or judged["reason"] in UNDECIDED
    if len(runs) != RUNS or not is_known or judged["observed"]["call_errors"]:
        raise SystemExit(f"{tool} was not examined: {json.dumps(judged['issues'])}")
    for run in runs:
        changes = [change for delta in run["deltas"] for change in regions(delta)]
        destroyed = [change for change in changes if change["removed"] and not is_present_state(change["region"])]
        if destroyed:
            raise SystemExit(f"{tool} destroys: {json.dumps(destroyed)}")
        # A call that did nothing would destroy nothing.
        if not any(change["added"] for change in changes):
            raise SystemExit(f"{tool} wrote nothing")


def is_present_state(region):
    return region in PRESENT_STATE or region.startswith(INDEXES)


def regions(delta):
    return [change for category in delta["by_category"].values() for change in category]


def main():
    house = House("groundtruth")
    called = tools(house)
    target = WORK / "groundtruth"
    target.mkdir()
    with sqlite3.connect(house.database) as source, sqlite3.connect(target / "seed.db") as seed:
        source.backup(seed)
    (target / "target.toml").write_text(definition(called), encoding="utf-8")
    report = audit(target)
    if report["untested_tools"]:
        raise SystemExit(f"not examined: {report['untested_tools']}")
    for tool in READING:
        expect_reading(report, tool)
    for tool in WRITING:
        expect_nothing_destroyed(report, tool)


if __name__ == "__main__":
    main()
