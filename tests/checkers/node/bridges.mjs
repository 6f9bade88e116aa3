// Does the clients' main job through a bridge that others wrote: standard input and output on one side, HTTP on the
// other. The client on the near side is the official TypeScript SDK.
//
//   bridges.mjs NAME

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { doTheJob } from '../job/job.mjs';
import { sessionOver } from '../job/session.mjs';

const { CHECKERS_SERVER, CHECKERS_ADDRESS, CHECKERS_TOKEN, CHECKERS_PROFILE, CHECKERS_PROXY } = process.env;
const ADDRESS = `${CHECKERS_ADDRESS}/mcp/ledger`;
const CREDENTIAL = `Bearer ${CHECKERS_TOKEN}`;
const STDIO_SERVER = [CHECKERS_SERVER, 'mcp', '--project', 'ledger'];
const ENVIRONMENT = { ...getDefaultEnvironment(), HEYAIRA_DATABASE: process.env.HEYAIRA_DATABASE };
const START_MS = 30_000;
const RETRY_MS = 100;
const bridges = [];

const programOf = (name) => fileURLToPath(new URL(`node_modules/${name}`, import.meta.url));
const REMOTE = [process.execPath, programOf('mcp-remote/dist/proxy.js')];
const NODE_PROXY = [process.execPath, programOf('mcp-proxy/dist/bin/mcp-proxy.mjs')];

const BRIDGES = {
  'mcp-remote': () =>
    overStdio([...REMOTE, ADDRESS, '--allow-http', '--transport', 'http-only', '--header', `Authorization: ${CREDENTIAL}`]),
  'mcp-proxy-python-to-http': () =>
    overStdio([CHECKERS_PROXY, '--transport', 'streamablehttp', '-H', 'Authorization', CREDENTIAL, ADDRESS]),
  'mcp-proxy-python-to-stdio': () =>
    overHttp((port) => [CHECKERS_PROXY, '--pass-environment', '--host', '127.0.0.1', '--port', port, '--', ...STDIO_SERVER]),
  'mcp-proxy-node-to-stdio': () =>
    overHttp((port) => [...NODE_PROXY, '--host', '127.0.0.1', '--port', port, '--', ...STDIO_SERVER]),
};

// Each session has a bridge of its own, as each agent has: sessions that share a bridge to one process share the
// connection there, and cannot be told apart.

function overStdio([command, ...args]) {
  const env = { ...ENVIRONMENT, HOME: process.env.HOME };
  return connected(new StdioClientTransport({ command, args, env, stderr: 'ignore' }));
}

async function overHttp(commandFor) {
  const port = String(await freePort());
  const [command, ...args] = commandFor(port);
  const bridge = spawn(command, args, { env: ENVIRONMENT, stdio: 'ignore' });
  bridges.push(bridge);
  await listening(port, bridge);
  return connected(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
}

async function stop(bridge) {
  bridge.kill();
  if (bridge.exitCode === null && bridge.signalCode === null) await once(bridge, 'exit');
}

async function connected(transport) {
  const client = new Client({ name: 'bridge-checker', version: '0.0.0' });
  await client.connect(transport);
  return client;
}

async function freePort() {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address();
  taken.close();
  await once(taken, 'close');
  return port;
}

async function listening(port, bridge) {
  for (const begin = Date.now(); Date.now() - begin < START_MS; await delay(RETRY_MS)) {
    assert.equal(bridge.exitCode, null, 'the bridge ended');
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch {
      // Not yet.
    }
  }
  throw new Error(`nothing listens on port ${port}`);
}

const [name] = process.argv.slice(2);
const clients = [];
try {
  clients.push(await BRIDGES[name](), await BRIDGES[name]());
  const sessions = clients.map((client) => sessionOver((method, params) => requestOf(client, method, params)));
  await doTheJob(...sessions, JSON.parse(readFileSync(CHECKERS_PROFILE, 'utf8')));
} finally {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(bridges.map(stop));
}

function requestOf(client, method, params) {
  const methods = {
    'tools/list': () => client.listTools(),
    'tools/call': () => client.callTool(params),
    'prompts/list': () => client.listPrompts(),
    'resources/list': () => client.listResources(),
    'resources/read': () => client.readResource(params),
  };
  return methods[method]();
}
