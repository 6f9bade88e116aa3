"""Counts the tokens of one transcript, apart from the program and in another way: whole JSON documents, no pre-selection,
and sums at the end. usage: count.py CLIENT FILE; prints one JSON object."""

import glob
import json
import os
import sqlite3
import sys

FIELDS = ["input", "cache_read", "cache_write", "cache_write_long", "output"]


def documents(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                document = json.loads(line)
            except ValueError:
                continue
            if isinstance(document, dict):
                yield document


def claude_code(path):
    last = {}
    subagents = sorted(glob.glob(os.path.join(path[: -len(".jsonl")], "subagents", "*.jsonl")))
    for file in [path, *subagents]:
        for document in documents(file):
            message = document.get("message")
            if document.get("type") != "assistant" or not isinstance(message, dict) or message.get("model") == "<synthetic>":
                continue
            usage = message.get("usage")
            if isinstance(usage, dict) and isinstance(usage.get("input_tokens"), int):
                last[(message.get("id"), document.get("requestId"))] = usage
    for usage in last.values():
        written = usage.get("cache_creation_input_tokens") or 0
        long = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
        yield {
            "input": usage.get("input_tokens") or 0,
            "cache_read": usage.get("cache_read_input_tokens") or 0,
            "cache_write": written - long,
            "cache_write_long": long,
            "output": usage.get("output_tokens") or 0,
        }


def codex(path):
    known = None
    for document in documents(path):
        payload = document.get("payload") or {}
        if document.get("type") != "event_msg" or payload.get("type") != "token_count" or not payload.get("info"):
            continue
        total, usage = payload["info"]["total_token_usage"], payload["info"]["last_token_usage"]
        if total == known:
            continue
        known = total
        cached, written = usage.get("cached_input_tokens") or 0, usage.get("cache_write_input_tokens") or 0
        yield {
            "input": usage["input_tokens"] - cached - written,
            "cache_read": cached,
            "cache_write": written,
            "cache_write_long": 0,
            "output": usage["output_tokens"],
        }


def gemini(path):
    last = {}
    if path.endswith(".json"):
        lines = json.load(open(path, encoding="utf-8"))["messages"]
    else:
        lines = documents(path)
    for document in lines:
        for record in [document, *(document.get("$set") or {}).get("messages", [])]:
            if record.get("type") == "gemini" and record.get("tokens"):
                last[record["id"]] = record["tokens"]
    for tokens in last.values():
        yield {
            "input": tokens["input"] - tokens["cached"] + tokens["tool"],
            "cache_read": tokens["cached"],
            "cache_write": 0,
            "cache_write_long": 0,
            "output": tokens["output"] + tokens["thoughts"],
        }


def opencode(path):
    if path.endswith(".json"):
        messages = [message["info"] for message in json.load(open(path, encoding="utf-8"))["messages"]]
    else:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        session = "select id from session where parent_id is null order by time_updated desc limit 1"
        beside = f"select id from session where parent_id = ({session})"
        rows = database.execute(f"select data from message where session_id = ({session}) or session_id in ({beside})")
        messages = [json.loads(data) for (data,) in rows]
    for message in messages:
        tokens = message.get("tokens")
        if message.get("role") == "assistant" and tokens:
            yield {
                "input": tokens["input"],
                "cache_read": tokens["cache"]["read"],
                "cache_write": tokens["cache"]["write"],
                "cache_write_long": 0,
                "output": tokens["output"] + tokens["reasoning"],
            }


def copilot(path):
    told = list(documents(path))
    if not any(document.get("type") == "session.usage_record" for document in told):
        models = [document for document in told if document.get("type") == "session.shutdown"][-1]["data"]["modelMetrics"]
        told = [{"type": "session.usage_record", "data": metrics} for metrics in models.values()]
    for document in told:
        if document.get("type") == "session.usage_record":
            usage = document["data"]["usage"]
            read, written = usage["cacheReadTokens"], usage["cacheWriteTokens"]
            yield {
                "input": usage["inputTokens"] - read - written,
                "cache_read": read,
                "cache_write": written,
                "cache_write_long": 0,
                "output": usage["outputTokens"],
            }


def main():
    client, path = sys.argv[1:]
    readers = {"claude-code": claude_code, "codex": codex, "gemini": gemini, "opencode": opencode, "copilot": copilot}
    counted = [usage for usage in readers[client](path) if any(usage.values())]
    print(json.dumps({field: sum(usage[field] for usage in counted) for field in FIELDS}))


main()
