"""One agent session: a connection to its own server process, and what every answer has to look like."""

import json

from expect import expect, expect_equal


class Session:
    def __init__(self, client):
        self._client = client

    async def call(self, tool, **arguments):
        """Calls a tool that has to succeed, and returns the object that its one text block holds."""
        result, text = await self._call(tool, arguments)
        expect(not result.is_error, f"{tool} was refused: {text}")
        answer = json.loads(text)
        expect(isinstance(answer, dict), f"{tool} answered no object: {text}")
        compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        expect_equal(f"{tool} answers compact JSON", text, compact)
        return answer

    async def refused(self, code, tool, **arguments):
        """Calls a tool that has to refuse, and returns what it says."""
        result, text = await self._call(tool, arguments)
        expect(result.is_error, f"{tool} should have been refused with {code}, but answered: {text}")
        expect(text.startswith(f"{code}: "), f"{tool} should have been refused with {code}, but said: {text}")
        return text

    async def _call(self, tool, arguments):
        result = await self._client.call_tool(tool, arguments)
        kinds = [block.type for block in result.content]
        expect_equal(f"content blocks of {tool}", kinds, ["text"])
        expect_equal(f"structuredContent of {tool}", result.structured_content, None)
        return result, result.content[0].text

    async def tools(self):
        answer = await self._client.list_tools()
        expect_equal("next page of tools", answer.next_cursor, None)
        return answer.tools

    async def prompt_names(self):
        return [prompt.name for prompt in (await self._client.list_prompts()).prompts]

    async def resource_uris(self):
        return [str(resource.uri) for resource in (await self._client.list_resources()).resources]

    async def read_resource(self, uri):
        contents = (await self._client.read_resource(uri)).contents
        expect_equal(f"contents of {uri}", len(contents), 1)
        return contents[0].text
