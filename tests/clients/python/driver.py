"""Does the main job with the official Python SDK, which speaks protocol 2026-07-28.

run.sh starts it and says by environment variables where everything is.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

import job
import wire
from expect import Unexpected, expect_equal
from session import Session

OVER_HTTP = os.environ["CLIENTS_TRANSPORT"] == "http"
RECORDER = Path(__file__).parent.parent / "job" / "record.py"
REQUEST_TIMEOUT_SECONDS = 30


async def main():
    profile = json.loads(Path(os.environ["CLIENTS_PROFILE"]).read_text(encoding="utf-8"))
    await do_the_job(profile)
    expect_protocol()


async def do_the_job(profile):
    async with connected("first") as first:
        await job.expect_surface(first)
        await job.expect_identity(first, profile)
        await job.expect_wrong_profile_refused(first, profile)
        line, memory_id = await job.hand_off(first, profile)
        async with connected("second") as second:
            task_id, version = await job.take_over(second, profile, line, memory_id)
            await job.expect_conflict(first, profile, task_id, version)
            await job.finish(second, profile, task_id, version)
            await job.expect_unknown_argument_refused(second)


@asynccontextmanager
async def connected(name):
    # The SDK's default mode: a server that does not know 2026-07-28 would get the older handshake, which the record shows.
    async with server_of(name) as server:
        client = Client(
            server,
            client_info=Implementation(name="python-sdk", version="2.3.0"),
            read_timeout_seconds=REQUEST_TIMEOUT_SECONDS,
        )
        async with client:
            yield Session(client)


@asynccontextmanager
async def server_of(name):
    if not OVER_HTTP:
        yield server_parameters(name)
        return
    credential = {"Authorization": f"Bearer {os.environ['CLIENTS_TOKEN']}"}
    async with httpx2.AsyncClient(headers=credential, timeout=REQUEST_TIMEOUT_SECONDS) as http_client:
        address = f"{os.environ['CLIENTS_RECORDER']}/{record_of(name).stem}/mcp/ledger"
        yield streamable_http_client(address, http_client=http_client)


def server_parameters(name):
    server = [os.environ["CLIENTS_SERVER"], "mcp", "--project", "ledger"]
    return StdioServerParameters(
        command=sys.executable,
        args=[str(RECORDER), str(record_of(name)), *server],
        env={"HEYAIRA_DATABASE": os.environ["HEYAIRA_DATABASE"]},
    )


def record_of(name):
    return Path(os.environ["CLIENTS_RECORDS"]) / f"python-{os.environ['CLIENTS_TRANSPORT']}-{name}.jsonl"


def expect_protocol():
    for name in ("first", "second"):
        conversation = wire.Conversation(record_of(name))
        wire.expect_modern(conversation)
        if OVER_HTTP:
            wire.expect_modern_headers(conversation)
        else:
            wire.expect_clean_exit(conversation)
    second = wire.Conversation(record_of("second"))
    resume = ["server_identity", "continuity_context", "task_takeover"]
    expect_equal("the calls that a resume takes", second.tool_calls()[:3], resume)


def single_errors(error):
    """The SDK's task groups wrap what is raised between them, once for each open connection."""
    if isinstance(error, BaseExceptionGroup):
        return [single for inner in error.exceptions for single in single_errors(inner)]
    return [error]


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except* Unexpected as unexpected:
        sys.exit("\n".join(f"unexpected: {error}" for error in single_errors(unexpected)))
