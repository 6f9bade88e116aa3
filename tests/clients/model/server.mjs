// A model that follows a script, behind the interfaces that coding clients speak, on the loopback address alone. It must
// never answer a request that it did not log.

import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { anthropic } from './anthropic.mjs';
import { chat } from './chat.mjs';
import { broken } from './failures.mjs';
import { gemini } from './gemini.mjs';
import { responses } from './responses.mjs';
import { stepDue } from './script.mjs';
import { callOf } from './tools.mjs';
import { sizeOf } from './usage.mjs';

const PROTOCOLS = [anthropic, responses, chat, gemini];

/**
 * Starts it on a free port.
 * @param log a folder that gets one file for each request: 0001.json, 0002.json, …
 * @param failing how it fails (`failures.mjs`), once it has taken `after` turns of the script
 * @returns its address, and how to close it
 */
export async function startModel({ log, port = 0, failing, after = 0 }) {
  fs.mkdirSync(log, { recursive: true });
  const model = { log, count: 0, turns: 0, failing, after, spent: new Set() };
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
  send(response, reply.text === undefined ? written(reply) : reply);
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
  const reply = written({ ...protocol.answer(body, action, step?.usage, at), wait: step?.wait });
  if (model.failing && model.turns >= model.after) {
    entry.answered = { failure: model.failing };
    return broken(model.failing, reply, protocol);
  }
  if (step) model.turns += 1;
  entry.answered = action;
  return reply;
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

/** An answer as it goes out. */
function written({ json, events, ...reply }) {
  if (json) return { ...reply, type: 'application/json', text: JSON.stringify(json) };
  const lines = events.map(({ event, data, raw }) => `${event ? `event: ${event}\n` : ''}data: ${raw ?? JSON.stringify(data)}\n\n`);
  return { ...reply, type: 'text/event-stream', text: lines.join('') };
}

function send(response, { status = 200, headers, type, text, isCut = false }) {
  if (isCut && text === '') {
    response.destroy();
    return;
  }
  response.writeHead(status, { ...headers, 'content-type': type, 'cache-control': 'no-cache' });
  // What was written has to be on its way before the connection is torn down.
  if (isCut) response.write(text, () => response.destroy());
  else response.end(text);
}
