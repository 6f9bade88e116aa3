// node --test: a script does the same whichever interface asks for its steps.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readLog } from './log.mjs';
import { FAILURE_NAMES } from './failures.mjs';
import { parseScript } from './script.mjs';
import { startModel } from './server.mjs';

const SCRIPT = [
  'Do as is written, with handoff: 8e287857 v7.',
  'model> call task_get as task {"task_id":"{{/handoff: ([0-9a-f]+)/}}"}',
  'model> call task_update {"expected_version":"{{task.version}}","summary":"At {{task.version}}","tags":["{{task.tags.0}}"]}',
  'model> shell echo {{task.title}}',
  'model> say It is {{task.title}}.',
].join('\n');
const RESULT = 'Output:\n{"version":7,"title":"A}{B","tags":["x"]}\n';

let log;
let model;

before(async () => {
  log = fs.mkdtempSync(path.join(os.tmpdir(), 'model-'));
  model = await startModel({ log });
});

after(async () => {
  await model.close();
  fs.rmSync(log, { recursive: true });
});

async function post(at, body) {
  const response = await fetch(model.address + at, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

const answered = () => readLog(log).at(-1).answered;

// For each interface: a request with what was said so far, each item in that interface's own form.
const INTERFACES = {
  anthropic: {
    at: '/v1/messages',
    request: (items) => ({
      model: 'm',
      tools: [{ name: 'mcp__heyaira__task_get' }, { name: 'mcp__heyaira__task_update' }, { name: 'Bash' }],
      messages: items,
    }),
    user: (text) => ({ role: 'user', content: text }),
    call: (name) => ({ role: 'assistant', content: [{ type: 'tool_use', name, input: {} }] }),
    result: (text) => ({ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text }] }] }),
    tools: ['mcp__heyaira__task_get', 'mcp__heyaira__task_update', 'Bash'],
  },
  responses: {
    at: '/v1/responses',
    request: (items) => ({
      model: 'm',
      tools: [
        { type: 'namespace', name: 'mcp__heyaira', tools: [{ name: 'task_get' }, { name: 'task_update' }] },
        { type: 'function', name: 'exec_command' },
      ],
      input: items,
    }),
    user: (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
    call: (name) => ({ type: 'function_call', name, arguments: '{}' }),
    result: (output) => ({ type: 'function_call_output', output }),
    tools: ['task_get', 'task_update', 'exec_command'],
  },
  chat: {
    at: '/v1/chat/completions',
    request: (items) => ({
      model: 'm',
      tools: ['heyaira_task_get', 'heyaira_task_update', 'bash'].map((name) => ({ type: 'function', function: { name } })),
      messages: items,
    }),
    user: (text) => ({ role: 'user', content: text }),
    call: (name) => ({ role: 'assistant', content: null, tool_calls: [{ function: { name, arguments: '{}' } }] }),
    result: (content) => ({ role: 'tool', content }),
    tools: ['heyaira_task_get', 'heyaira_task_update', 'bash'],
  },
  gemini: {
    at: '/v1beta/models/m:streamGenerateContent',
    request: (contents) => ({
      tools: [{ functionDeclarations: ['mcp_heyaira_task_get', 'mcp_heyaira_task_update', 'run_shell_command'].map((name) => ({ name })) }],
      contents,
    }),
    user: (text) => ({ role: 'user', parts: [{ text }] }),
    call: (name) => ({ role: 'model', parts: [{ functionCall: { name, args: {} } }] }),
    result: (output) => ({ role: 'user', parts: [{ functionResponse: { response: { output } } }] }),
    tools: ['mcp_heyaira_task_get', 'mcp_heyaira_task_update', 'run_shell_command'],
  },
};

for (const [name, { at, request, user, call, result, tools }] of Object.entries(INTERFACES)) {
  test(`${name}: one step for each request, filled in from what came before`, async () => {
    const said = [user(SCRIPT)];
    const step = async () => {
      const { status, text } = await post(at, request(said));
      assert.equal(status, 200, text);
      const { call: made, text: answer } = answered();
      // What is logged as answered is what was sent.
      assert.ok(text.includes(made?.name ?? answer), text);
      if (made) said.push(call(made.name), result(RESULT));
      return made ?? answer;
    };
    const first = await step();
    assert.deepEqual([first.name, first.arguments], [tools[0], { task_id: '8e287857' }]);
    const second = await step();
    assert.deepEqual([second.name, second.arguments], [tools[1], { expected_version: 7, summary: 'At 7', tags: ['x'] }]);
    const third = await step();
    assert.equal(third.name, tools[2]);
    assert.ok(JSON.stringify(third.arguments).includes('echo A}{B'), JSON.stringify(third.arguments));
    assert.equal(await step(), 'It is A}{B.');
    assert.equal(await step(), 'It is A}{B.', 'an answer is no call: the same request has the same answer');
  });

  test(`${name}: an error comes once, and a question without tools gets a text`, async () => {
    const body = request([user(`model> error 429\nmodel> say ${name} after all`)]);
    assert.equal((await post(at, body)).status, 429);
    assert.equal((await post(at, body)).status, 200);
    assert.equal(answered().text, `${name} after all`);
    await post(at, { ...body, tools: undefined });
    assert.equal(answered().text, 'Nothing more is scripted.');
  });
}

test('a failing model fails each time, once it has taken its steps', async () => {
  const { at, request, user, call, result } = INTERFACES.anthropic;
  for (const failing of FAILURE_NAMES) {
    const own = await startModel({ log: path.join(log, failing), failing, after: 1 });
    const said = [user('model> call task_get\nmodel> say Done.')];
    const ask = async () => {
      const body = JSON.stringify({ ...request(said), stream: true });
      const response = await fetch(own.address + at, { method: 'POST', body });
      return { status: response.status, text: await response.text() };
    };
    assert.match((await ask()).text, /message_stop/, failing);
    said.push(call('mcp__heyaira__task_get'), result('{}'));
    for (const _ of [1, 2]) {
      const { status, text } = await ask().catch((error) => ({ status: String(error), text: '' }));
      if (Number(failing)) assert.equal(status, Number(failing));
      assert.doesNotMatch(text, /message_stop/, failing);
    }
    await own.close();
    assert.deepEqual(readLog(path.join(log, failing)).map(({ answered: { failure } }) => failure), [undefined, failing, failing]);
  }
});

test('a tool that runs JavaScript is told to call the tools inside', async () => {
  const exec = { type: 'custom', name: 'exec', description: 'declare const tools: { mcp__heyaira__task_get(args: {}): X; };' };
  const item = { type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'functions', tools: [exec] }] };
  const input = [item, INTERFACES.responses.user('model> call task_get {"task_id":"8e287857"}')];
  const { text } = await post('/v1/responses', { model: 'm', input, stream: true });
  assert.ok(text.includes('custom_tool_call') && text.includes('tools.mcp__heyaira__task_get({'), text);
});

test('what cannot be done is said, and logged', async () => {
  const { at, request, user } = INTERFACES.chat;
  for (const [script, failure] of [
    ['model> call task_get {"a":}', 'no step of a script'],
    ['model> fly', 'no step of a script'],
    ['model> say {{task.version}}', 'no call of this script is labelled task'],
    ['model> say {{/never said/}}', 'nothing that reached the model matches'],
  ]) {
    const { status, text } = await post(at, request([user(script)]));
    assert.equal(status, 400);
    assert.ok(text.includes(failure), text);
    assert.ok(readLog(log).at(-1).failure.includes(failure));
  }
});

test('usage and waiting belong to the next step', async () => {
  const { at, request, user } = INTERFACES.chat;
  const began = performance.now();
  const { text } = await post(at, request([user('model> usage {"prompt_tokens":90000}\nmodel> wait 0.2\nmodel> say Late.')]));
  assert.ok(performance.now() - began >= 200);
  assert.equal(JSON.parse(text).usage.prompt_tokens, 90000);
});

test('steps stand in the strings of a JSON object too', () => {
  const task = { title: 'A task', task: { handoff_next: 'Begin.\nmodel> write a.txt "one"\nmodel> say Done.' } };
  const steps = parseScript(['The task:', '```json', JSON.stringify(task), '```'].join('\n'));
  assert.deepEqual(steps, [{ kind: 'shell', command: `printf '%b' '"one"' > 'a.txt'` }, { kind: 'say', text: 'Done.' }]);
});
