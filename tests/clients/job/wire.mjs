// Reads what the recorders kept, and checks that the protocol was really spoken that way.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export const HANDSHAKE = '2025-11-25';
export const MODERN = '2026-07-28';
const OPENINGS = ['initialize', 'server/discover'];
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const LONGEST_GOODBYE_SECONDS = 2;

/** One conversation for each server process that the record tells of. */
export function readConversations(path) {
  const conversations = [];
  for (const entry of entriesOf(path)) {
    if (entry.start) conversations.push({ client: [], server: [], exit: undefined });
    const conversation = conversations.at(-1);
    if (entry.client !== undefined) conversation.client.push(JSON.parse(entry.client));
    if (entry.server !== undefined) conversation.server.push(serverMessage(entry.server));
    if (entry.exit !== undefined) conversation.exit = entry;
  }
  return conversations;
}

/** One conversation for each client that began to talk over HTTP, where nothing else holds its exchanges together. */
export function readExchanges(path) {
  const conversations = [];
  for (const entry of entriesOf(path).filter(({ method }) => method === 'POST')) {
    const message = JSON.parse(entry.client);
    if (OPENINGS.includes(message.method)) conversations.push({ client: [], server: [], headers: [] });
    const conversation = conversations.at(-1);
    conversation.client.push(message);
    conversation.headers.push(entry.headers);
    if (entry.server) conversation.server.push(serverMessage(entry.server));
  }
  return conversations;
}

function entriesOf(path) {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function serverMessage(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    // Told below, with the line.
  }
  assert.equal(message?.jsonrpc, '2.0', `the server wrote something else than protocol to stdout: ${line}`);
  return message;
}

function requestsOf(conversation) {
  return conversation.client.filter((message) => message.method !== undefined && message.id !== undefined);
}

function resultOf(conversation, request) {
  const answers = conversation.server.filter((message) => message.id === request.id && message.method === undefined);
  assert.equal(answers.length, 1, `answers to ${request.method}`);
  assert.ok(answers[0].result, `${request.method} was answered with an error: ${JSON.stringify(answers[0])}`);
  return answers[0].result;
}

export function toolCalls(conversations) {
  const requests = conversations.flatMap(requestsOf);
  return requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params.name);
}

/** 2025-11-25: one handshake, which both sides end with that version, and no version in later requests. */
export function expectHandshake(conversation) {
  const [initialize, ...later] = requestsOf(conversation);
  assert.equal(initialize?.method, 'initialize', 'first request');
  assert.equal(initialize.params.protocolVersion, HANDSHAKE, 'protocol version that the client asked for');
  const negotiated = resultOf(conversation, initialize).protocolVersion;
  assert.equal(negotiated, HANDSHAKE, 'protocol version that the server answered');
  const notified = conversation.client.some(({ method }) => method === 'notifications/initialized');
  assert.ok(notified, 'the client did not end the handshake');
  for (const request of later) {
    assert.equal(request.params?._meta?.[VERSION_KEY], undefined, `protocol version inside ${request.method}`);
    resultOf(conversation, request);
  }
}

/** 2026-07-28: no handshake, every request says its version. */
export function expectModern(conversation) {
  const requests = requestsOf(conversation);
  assert.ok(requests.length > 0, 'the client sent nothing');
  for (const request of requests) {
    assert.notEqual(request.method, 'initialize', 'the client fell back to the handshake of the older protocol');
    assert.equal(request.params?._meta?.[VERSION_KEY], MODERN, `protocol version of ${request.method}`);
    assert.equal(resultOf(conversation, request).resultType, 'complete', `resultType of ${request.method}`);
  }
}

/** What HTTP says beside each message: the credential, and the protocol's version once it is agreed. */
export function expectHeaders({ client, headers }, version) {
  for (const [index, { method }] of client.entries()) {
    const { authorization, 'mcp-protocol-version': spoken, 'mcp-method': named } = headers[index];
    assert.equal(authorization, 'Bearer', `credential beside ${method}`);
    if (method !== 'initialize') assert.equal(spoken, version, `protocol version beside ${method}`);
    if (version === MODERN) assert.equal(named, method, 'method beside the message');
  }
}

export function expectCleanExit({ exit }) {
  assert.ok(exit, 'the server had to be killed: it did not leave at the end of its input');
  assert.equal(exit.exit, 0, 'exit code of the server');
  assert.notEqual(exit.seconds, null, 'the server left before the end of its input');
  assert.ok(exit.seconds < LONGEST_GOODBYE_SECONDS, `the server took ${exit.seconds} s to leave`);
}
