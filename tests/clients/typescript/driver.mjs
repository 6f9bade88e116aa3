// Does the main job with version 1 of the official TypeScript SDK, which speaks protocol 2025-11-25.

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { RESUME_CALLS, doTheJob } from '../job/job.mjs';
import { sessionOver } from '../job/session.mjs';
import { DATABASE, OVER_HTTP, PROFILE, credential, recordOf, serverAddress, serverCommand } from '../job/setup.mjs';
import {
  HANDSHAKE,
  expectCleanExit,
  expectHandshake,
  expectHeaders,
  readConversations,
  readExchanges,
  toolCalls,
} from '../job/wire.mjs';

const REQUEST_TIMEOUT_MS = 30_000;
const SESSIONS = ['first', 'second'];

async function connect(name) {
  const client = new Client({ name: 'typescript-sdk', version: '1.32.2' });
  await client.connect(OVER_HTTP ? httpTransport(name) : stdioTransport(name));
  return client;
}

function stdioTransport(name) {
  const [command, ...args] = serverCommand(recordOf('typescript', name));
  const env = { ...getDefaultEnvironment(), HEYAIRA_DATABASE: DATABASE };
  return new StdioClientTransport({ command, args, env });
}

function httpTransport(name) {
  const requestInit = { headers: { Authorization: credential() } };
  return new StreamableHTTPClientTransport(new URL(serverAddress('typescript', name)), { requestInit });
}

/** The SDK's own methods, so that its checks of the answers run too. */
function sessionOf(client) {
  const options = { timeout: REQUEST_TIMEOUT_MS };
  const methods = {
    'tools/list': () => client.listTools(undefined, options),
    'tools/call': (params) => client.callTool(params, undefined, options),
    'prompts/list': () => client.listPrompts(undefined, options),
    'resources/list': () => client.listResources(undefined, options),
    'resources/read': (params) => client.readResource(params, options),
  };
  return sessionOver((method, params) => methods[method](params));
}

function expectProtocol() {
  const read = OVER_HTTP ? readExchanges : readConversations;
  for (const name of SESSIONS) {
    const conversations = read(recordOf('typescript', name));
    assert.equal(conversations.length, 1, `conversations of the ${name} session`);
    expectHandshake(conversations[0]);
    if (OVER_HTTP) expectHeaders(conversations[0], HANDSHAKE);
    else expectCleanExit(conversations[0]);
  }
  const calls = toolCalls(read(recordOf('typescript', 'second')));
  assert.deepEqual(calls.slice(0, RESUME_CALLS.length), RESUME_CALLS, 'the calls that a resume takes');
}

const clients = await Promise.all(SESSIONS.map(connect));
try {
  await doTheJob(...clients.map(sessionOf), PROFILE);
} finally {
  await Promise.all(clients.map((client) => client.close()));
}
expectProtocol();
