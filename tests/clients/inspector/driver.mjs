// Does the main job with the command line of the MCP Inspector: a process or a connection for every single call,
// so that nothing can hang on a connection. The first session speaks the older protocol, which is the
// Inspector's default, the second one the newer: the handoff passes between them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RESUME_CALLS, doTheJob } from '../job/job.mjs';
import { sessionOver } from '../job/session.mjs';
import { DATABASE, OVER_HTTP, PROFILE, credential, recordOf, serverAddress, serverCommand } from '../job/setup.mjs';
import {
  HANDSHAKE,
  MODERN,
  expectCleanExit,
  expectHandshake,
  expectHeaders,
  expectModern,
  readConversations,
  readExchanges,
  toolCalls,
} from '../job/wire.mjs';

const INSPECTOR = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', '.bin', 'mcp-inspector');
const CALL_TIMEOUT_MS = 30_000;
// Listed with its check of the schemas.
const TOOLS = 'tools/list';
const EXIT_OK = 0;
const EXIT_TOOL_ERROR = 5;

const SESSIONS = [
  { name: 'first', era: 'legacy', version: HANDSHAKE, expectProtocol: expectHandshake },
  { name: 'second', era: 'modern', version: MODERN, expectProtocol: expectModern },
];

function sessionOf({ name, era }) {
  return sessionOver(async (method, params = {}) => {
    const flags = method === TOOLS ? ['--strict'] : flagsFor(params);
    const args = ['--cli', '--protocol-era', era, '--format', 'json', '--method', method, ...flags];
    const { code, stdout, stderr } = await run(INSPECTOR, [...args, ...serverOf(name)]);
    assert.ok([EXIT_OK, EXIT_TOOL_ERROR].includes(code), `${method} ended with exit code ${code}: ${stderr}`);
    if (method === TOOLS) assert.equal(stderr, '', 'what it has to say about the schemas of the tools');
    const { result } = JSON.parse(stdout);
    assert.equal(code, result.isError ? EXIT_TOOL_ERROR : EXIT_OK, `exit code of ${method}`);
    return result;
  });
}

function serverOf(name) {
  if (OVER_HTTP) {
    const address = serverAddress('inspector', name);
    return ['--transport', 'http', '--header', `Authorization: ${credential()}`, '--server-url', address];
  }
  return ['-e', `HEYAIRA_DATABASE=${DATABASE}`, '--', ...serverCommand(recordOf('inspector', name))];
}

function flagsFor(params) {
  const flags = [];
  if (params.name !== undefined) flags.push('--tool-name', params.name);
  if (params.arguments !== undefined) flags.push('--tool-args-json', JSON.stringify(params.arguments));
  if (params.uri !== undefined) flags.push('--uri', params.uri);
  return flags;
}

function run(command, args) {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: CALL_TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code ?? error.signal : EXIT_OK, stdout, stderr });
    });
  });
}

function expectConversations() {
  const read = OVER_HTTP ? readExchanges : readConversations;
  for (const { name, version, expectProtocol } of SESSIONS) {
    for (const conversation of read(recordOf('inspector', name))) {
      expectProtocol(conversation);
      if (OVER_HTTP) expectHeaders(conversation, version);
      else expectCleanExit(conversation);
    }
  }
  const calls = toolCalls(read(recordOf('inspector', 'second')));
  assert.deepEqual(calls.slice(0, RESUME_CALLS.length), RESUME_CALLS, 'the calls that a resume takes');
}

await doTheJob(...SESSIONS.map(sessionOf), PROFILE);
expectConversations();
