"""The main job: one session hands its task off, a second one takes it over and finishes it."""

import json
from pathlib import Path

from expect import expect, expect_contains, expect_equal

JOB = json.loads((Path(__file__).parent.parent / "job" / "job.json").read_text(encoding="utf-8"))


async def expect_surface(session):
    tools = await session.tools()
    expect_equal("tools, in order", [tool.name for tool in tools], JOB["tools"])
    for tool in tools:
        expect_equal(f"schema type of {tool.name}", tool.input_schema.get("type"), "object")
        expect_equal(f"additionalProperties of {tool.name}", tool.input_schema.get("additionalProperties"), False)

    prompts = await session.prompt_names()
    for name in JOB["prompts"]:
        expect(name in prompts, f"prompts/list lacks {name}: {prompts}")
    resources = await session.resource_uris()
    for uri in JOB["resources"]:
        expect(uri in resources, f"resources/list lacks {uri}: {resources}")
    expect_contains("the procedure", await session.read_resource(JOB["resources"][0]), "task_update")


async def expect_identity(session, profile):
    identity = await session.call("server_identity")
    for part in ("resource", "instance", "project"):
        expect_equal(f"{part} of server_identity", identity.get(part), profile[part])
    pin = profile["write_context"].partition("#")[2]
    answer = json.dumps(identity)
    expect("write_context" not in identity and pin not in answer, f"server_identity gives the pin away: {answer}")


async def expect_wrong_profile_refused(session, profile):
    """The profile of another project or another generation must never write here."""
    write_context = profile["write_context"]
    other = write_context[:-1] + ("0" if write_context[-1] != "0" else "1")
    error = await session.refused(
        "identity_mismatch", "task_create", write_context=other, title="Lost", summary="This must not be stored."
    )
    expect(write_context.partition("#")[2] not in error, f"the error gives the pin away: {error}")
    listed = await session.call("task_list", query="Lost")
    expect_equal("tasks stored with a wrong write_context", listed["total"], 0)


async def hand_off(session, profile):
    """The first session: claim a task, work, leave it in a state that needs no conversation. Returns its line."""
    write = {"write_context": profile["write_context"]}
    created = await session.call("task_create", **write, **JOB["task"])
    task = {"task_id": created["task_id"], **write}
    first8 = created["task_id"][:8]
    expect_equal("version of a new task", created["version"], 1)
    expect_equal("line of a new task", created["line"], f"handoff: {first8} v1")

    claimed = await session.call("task_takeover", **task, expected_version=1, session_ref=JOB["first_session"])
    expect_equal("version after claiming", claimed["version"], 2)
    expect_equal("status after claiming", claimed["status"], "in_progress")
    expect_equal("owner after claiming", claimed["owner"], JOB["first_session"])

    worked = await session.call("task_update", **task, expected_version=2, **JOB["work"])
    expect_equal("version after working", worked["version"], 3)

    memory = await session.call("memory_add", **write, **JOB["decision"], task_id=created["task_id"])
    handoff = handoff_naming(memory["id"])
    saved = await session.call("task_update", **task, expected_version=3, **handoff, work_receipt=JOB["receipt"])
    expect_equal("version of the handoff", saved["version"], 4)
    expect_equal("line of the handoff", saved["line"], f"handoff: {first8} v{saved['version']}")
    expect_equal("warnings about a complete handoff", saved.get("warnings", []), [])
    return saved["line"], memory["id"]


def handoff_naming(memory_id):
    return JOB["handoff"] | {"handoff_next": JOB["handoff"]["handoff_next"].replace("{memory}", memory_id)}


def completed_text():
    return JOB["work"]["handoff_completed"] + "\n" + JOB["handoff"]["handoff_completed_append"]


async def take_over(session, profile, line, memory_id):
    """The second session: three calls from a pasted line to the ownership of the task."""
    await expect_identity(session, profile)
    packet = await session.call("continuity_context", handoff=line)
    expect_packet(packet, profile, memory_id)
    taken = await session.call(
        "task_takeover",
        task_id=packet["task_id"],
        expected_version=packet["version"],
        write_context=profile["write_context"],
        session_ref=JOB["second_session"],
    )
    line_version = int(line.rpartition(" v")[2])
    expect_equal("version after the takeover", taken["version"], line_version + 1)
    expect_equal("owner after the takeover", taken["owner"], JOB["second_session"])
    return packet["task_id"], taken["version"]


def expect_packet(packet, profile, memory_id):
    expect_equal("project of the packet", packet["project"], profile["project"])
    expect_equal("instance of the packet", packet["instance"], profile["instance"][:8])
    expect_equal("handoff_next", packet["handoff_next"], handoff_naming(memory_id)["handoff_next"])
    expect_equal("handoff_completed", packet["handoff_completed"], completed_text())
    expect_equal("open boxes", packet["open_boxes"], [JOB["open_box"]])
    expect("moved" not in packet, f"nothing changed since the line, but the packet says: {packet.get('moved')}")

    memories = {memory["id"]: memory for memory in packet["memories"]}
    expect(memory_id in memories, f"the packet lacks the memory that handoff_next names: {packet['memories']}")
    expect_equal("summary of the memory", memories[memory_id]["summary"], JOB["decision"]["summary"])
    for field in ("session_ref", "model", "branch", "base_commit", "result_commit", "tests"):
        expect_equal(f"{field} of the receipt", packet["receipt"].get(field), JOB["receipt"][field])


async def expect_conflict(session, profile, task_id, version):
    """The first session must learn that the task is no longer its own, in words that need no second look."""
    error = await session.refused(
        "version_conflict",
        "task_update",
        task_id=task_id,
        expected_version=version - 1,
        write_context=profile["write_context"],
        **JOB["late_update"],
    )
    expect_contains("the conflict", error, f"version {version}", "taken it over", JOB["second_session"])


async def finish(session, profile, task_id, version):
    done = await session.call(
        "task_update",
        task_id=task_id,
        expected_version=version,
        write_context=profile["write_context"],
        **JOB["done"],
    )
    expect_equal("version of the finished task", done["version"], version + 1)

    task = await session.call("task_get", task_id=task_id[:8])
    expect_equal("id of the finished task", task["task_id"], task_id)
    expect_equal("status of the finished task", task["status"], "done")
    expect_equal("current version of the finished task", task["current_version"], version + 1)
    taken_over = f"Taken over by session {JOB['second_session']} at "
    expect_contains("handoff_completed of the finished task", task["handoff_completed"], completed_text(), taken_over)

    found = await session.call("memory_search", kind="result", query=JOB["result_query"], task_id=task_id)
    expect_equal("results found", [memory["summary"] for memory in found["memories"]], [JOB["done"]["summary"]])
    read = await session.call("memory_search", ids=[found["memories"][0]["id"]])
    expect_equal("body of the result", read["memories"][0]["body"], JOB["done"]["result"])


async def expect_unknown_argument_refused(session):
    error = await session.refused("invalid_argument", "task_list", state="in_progress")
    expect_contains("the refusal of an unknown argument", error, "state", "did you mean status?")
