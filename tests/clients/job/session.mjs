// One agent session, and what every answer to it has to look like.

import assert from 'node:assert/strict';

/**
 * @param request does one MCP request: `(method, params) => result`. The clients differ in nothing else.
 */
export function sessionOver(request) {
  async function callTool(name, args) {
    const result = await request('tools/call', { name, arguments: args });
    assert.deepEqual(result.content.map(({ type }) => type), ['text'], `content blocks of ${name}`);
    assert.equal(result.structuredContent, undefined, `structuredContent of ${name}`);
    return { refused: result.isError === true, text: result.content[0].text };
  }

  return {
    request,

    /** Calls a tool that has to succeed, and returns the object that its one text block holds. */
    async call(name, args = {}) {
      const { refused, text } = await callTool(name, args);
      assert.ok(!refused, `${name} was refused: ${text}`);
      const answer = JSON.parse(text);
      assert.equal(text, JSON.stringify(answer), `${name} answers compact JSON`);
      return answer;
    },

    /** Calls a tool that has to refuse, and returns what it says. */
    async refused(code, name, args) {
      const { refused, text } = await callTool(name, args);
      assert.ok(refused, `${name} should have been refused with ${code}, but answered: ${text}`);
      assert.ok(text.startsWith(`${code}: `), `${name} should have been refused with ${code}, but said: ${text}`);
      return text;
    },
  };
}
