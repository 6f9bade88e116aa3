// A model that follows a script, behind the interfaces that coding clients speak, on the loopback address alone. It must
// never answer a request that it did not log.

import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { anthropic } from './anthropic.mjs';
import { chat } from './chat.mjs';
import { gemini } from './gemini.mjs';
import { responses } from './responses.mjs';
import { stepDue } from './script.mjs';
import { callOf } from './tools.mjs';
import { sizeOf } from './usage.mjs';

const PROTOCOLS = [anthropic, responses, chat, gemini];

/**
 * Starts it on a free port.
 * @param log a folder that gets one file for each request: 0001.json, 0002.json, …
 * @returns its address, and how to close it
 */
export async function startModel({ log, port = 0 }) {
  fs.mkdirSync(log, { recursive: true });
  const model = { log, count: 0, spent: new Set() };
  const server = http.createServer((request, response) => void serve(model, request, response));
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(model, request, response) {
  const body = await bodyOf(request);
  const url = new URL(request.url, 'http://model');
  const entry = { at: new Date().toISOString(), method: request.method, path: url.pathname, headers: request.headers, body };
  model.count += 1;
  const file = path.join(model.log, `${String(model.count).padStart(4, '0')}.json`);
  let reply;
  try {
    reply = replyTo(model, url.pathname, body, entry);
  } catch (error) {
    entry.failure = String(error);
    reply = { status: 400, json: { type: 'error', error: { type: 'invalid_request_error', message: String(error) } } };
  }
  fs.writeFileSync(file, JSON.stringify(entry, null, 1));
  if (reply.wait) await later(reply.wait * 1000);
  send(response, reply);
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function replyTo(model, at, body, entry) {
  const protocol = PROTOCOLS.find((one) => one.takes(at));
  if (!protocol) return aside(at, body);
  const read = protocol.read(body);
  Object.assign(entry, { protocol: protocol.name, ...read });
  // Without tools it is a question of the client's own, such as a title for the session, and no turn of the script.
  const step = read.tools.length > 0 ? stepDue(read.conversation, model.spent) : undefined;
  if (step?.kind === 'error') {
    model.spent.add(step.key);
    entry.answered = { error: step.status };
    return { status: step.status, json: protocol.failure(step.status), wait: step.wait };
  }
  const action = actionOf(step, read);
  entry.answered = action;
  return { ...protocol.answer(body, action, step?.usage, at), wait: step?.wait };
}

function actionOf(step, read) {
  if (!step) return { text: 'Nothing more is scripted.' };
  return step.kind === 'say' ? { text: step.text } : { call: callOf(step, read) };
}

/** What clients ask beside the turns themselves. */
function aside(at, body) {
  if (at.endsWith('/count_tokens')) return { json: { input_tokens: sizeOf(body) } };
  if (at.endsWith(':countTokens')) return { json: { totalTokens: sizeOf(body) } };
  if (at.endsWith('/models')) return { json: { object: 'list', data: [], models: [] } };
  return { status: 404, json: { type: 'error', error: { type: 'not_found_error', message: `nothing is at ${at}` } } };
}

function send(response, { status = 200, json, events }) {
  if (json) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
    return;
  }
  response.writeHead(status, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const { event, data, raw } of events) {
    if (event) response.write(`event: ${event}\n`);
    response.write(`data: ${raw ?? JSON.stringify(data)}\n\n`);
  }
  response.end();
}
