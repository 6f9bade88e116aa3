// What has to hold of a run, read from what reached the model.

import assert from 'node:assert/strict';
import { readLog, resultsOf, toldBy, turnsOf } from '../model/log.mjs';
import { parseScript, withoutScript } from '../model/script.mjs';
import { MARK, TOOLS } from './job.mjs';

/** All that Codex shows of instructions when tools are deferred. */
const FIRST_LINE = 250;
const INSTRUCTIONS_BEGIN = 'Resume or hand off work.';
const FIRST_LINE_ENDS = 'no longer needed: task_update.';

/** The run went well, and did every step of the script. */
export function expectDone(client, run, steps) {
  const said = `${client.name}: ${run.stdout.slice(-2_000)}\n${run.stderr.slice(-2_000)}`;
  assert.ok(!run.late, `did not end in time: ${said}`);
  assert.equal(run.code, 0, said);
  const requests = readLog(run.log);
  for (const { failure } of requests) assert.equal(failure, undefined, `a step of ${client.name}`);
  const results = resultsOf(requests);
  const calls = parseScript(steps.join('\n')).filter(({ kind }) => kind !== 'say');
  assert.equal(results.length, calls.length, `results of ${client.name}`);
  const labelled = calls.flatMap(({ label }, index) => (label ? [[label, results[index].text]] : []));
  return { requests, turns: turnsOf(requests), results: Object.fromEntries(labelled), native: client.sessionOf(run) };
}

/** Our JSON, as it was sent: no client may have changed or escaped it. */
export function expectPlain(name, text) {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  const answer = JSON.parse(json);
  assert.equal(json, JSON.stringify(answer), `${name} reaches the model as plain text`);
  return answer;
}

/** A refusal in our words: the code, what is wrong, and what to do. */
export function expectConflict(text) {
  assert.match(text, /version_conflict: task [0-9a-f]{8} is at version \d+, you sent 1\. /);
}

/** What the first request told the model before it did anything. */
export function expectTold(client, turns, native) {
  const first = turns[0];
  const told = toldBy(first);
  if (!client.hidesInstructions) expectInstructions(client, told);
  for (const tool of TOOLS) {
    assert.ok(client.shows(told, first.tools, tool), `${client.name} shows ${tool} to the model`);
  }
  const line = `this session's session_ref is ${client.name}:${native}.`;
  assert.ok(told.includes(line), `${client.name}: the line of SessionStart with ${client.name}:${native} reached the model`);
  for (const skill of ['write-session-handoff', 'take-over-session']) {
    assert.ok(told.includes(skill), `${client.name} lists the skill ${skill}`);
  }
}

function expectInstructions(client, told) {
  const at = told.indexOf(INSTRUCTIONS_BEGIN);
  assert.ok(at >= 0, `${client.name} tells the model our instructions`);
  const [line] = told.slice(at).split(/\n|\\n/);
  assert.ok(line.endsWith(FIRST_LINE_ENDS), `${client.name} tells the whole first line: ${line}`);
  assert.ok(line.length <= FIRST_LINE, `${line.length} characters`);
}

/** Stored text comes to a model by its own calls alone: results, and what it repeats of them. */
export function expectNoStoredText(client, turns) {
  for (const { conversation } of turns) {
    for (const { kind, text } of conversation.filter((item) => ['system', 'user'].includes(item.kind))) {
      assert.ok(!withoutScript(text).includes(MARK), `${client.name}: stored text in what a ${kind} said: ${text}`);
    }
  }
}

/** Every machine that a client tried to reach is one that this client is known to try. */
export function expectAtHome(client, asked) {
  const strangers = asked.filter((host) => !client.dials.includes(host.replace(/:\d+$/, '')));
  assert.deepEqual(strangers, [], `machines that ${client.name} tried to reach`);
}
