// What HeyAira adds to what a model reads before its first useful action: the same client with and without it, and the
// difference counted as o200k does. What is counted is text: what was said, names, descriptions and schemas of tools.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { toldBy } from '../model/log.mjs';
import { withoutScript } from '../model/script.mjs';
import { expectDone, expectPlain } from './expect.mjs';
import { heyairaSays, runClient } from './ground.mjs';
import { promptOf, takeOver } from './job.mjs';

const SESSION = 'claude-code:5e0f7c1a-9b8d-4c36-a1d2-7f60b3e94d58';

// Random ids cost some tokens more or less by luck. These cost what most of them do.
const IDS = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '34f2bd28-b3de-497e-a1ef-8a53bb7c8669'],
  [/\b[0-9a-f]{8}\b/g, '34f2bd28'],
];

/** The counter, from the package beside the clients. */
export function counterIn(installed) {
  const { encode } = createRequire(path.join(installed, 'tokens/'))('gpt-tokenizer/encoding/o200k_base');
  return (text) => {
    const steady = IDS.reduce((known, [id, usual]) => known.replace(id, usual), text);
    return encode(steady, { disallowedSpecial: new Set() }).length;
  };
}

/** A handoff of the usual size; its line. */
export function typicalHandoff(ground) {
  const task = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'typical.json'), 'utf8'));
  const created = heyairaSays(ground, 'task', 'create', '--title', task.title, '--summary', task.create_summary,
    '--description', task.description, '--completion-criteria', task.completion_criteria, '--required-reviews', task.required_reviews);
  const id = created.task_id;
  heyairaSays(ground, 'task', 'takeover', id, '--expected-version', '1', '--session-ref', SESSION);
  const memories = task.memories.map(
    (summary) => heyairaSays(ground, 'memory', 'add', '--kind', 'decision', '--task-id', id, '--summary', summary).id,
  );
  const receipt = path.join(ground.work, 'receipt.json');
  fs.writeFileSync(receipt, JSON.stringify({ session_ref: SESSION, ...task.receipt }));
  const next = task.handoff_next.replace('{memories}', memories.join(', ')).replace('{session}', SESSION);
  const saved = heyairaSays(ground, 'task', 'update', id, '--expected-version', '2', '--summary', task.summary,
    '--handoff-next', next, '--handoff-completed', task.handoff_completed, '--work-receipt', `@${receipt}`);
  return saved.line;
}

/** The first request of a session to which nobody told of HeyAira. */
export async function bareRequest(ground, client) {
  const steps = ['model> say So.'];
  const run = await runClient(ground, client, promptOf('Say so.', steps));
  return expectDone(client, run, steps).turns[0];
}

/**
 * Takes over a typical handoff and counts.
 * @returns by part: tokens of what a session pays that never hands off, of the line, of the calls and answers until the
 * task is claimed, and the sum
 */
export async function countResume(ground, client, { way, bare, line, count }) {
  // Everything but the first step, which is where useful work begins.
  const steps = [...takeOver(way).slice(0, -1), 'model> say Taken over.'];
  const run = await runClient(ground, client, promptOf(line, steps));
  const { turns, results } = expectDone(client, run, steps);
  const first = turns[0];
  const packet = expectPlain('continuity_context', results.packet);
  assert.equal(line, `handoff: ${packet.task_id.slice(0, 8)} v${packet.version}`);
  const told = (request) => count(withoutScript(toldBy(request)));
  const text = withoutScript(toldBy(first));
  const plain = text.replaceAll('\\n', '\n').replaceAll('\\"', '"');
  const opening = told(first) - told(bare);
  const known = {
    instructions: count(instructionsIn(plain)),
    skills: count(skillsIn(text)),
    hook: count(text.match(/HeyAira: this session's session_ref[^\n"<]*/)?.[0] ?? ''),
    profile: count(plain.match(/## HeyAira: tasks and handoffs[^]*?`write-session-handoff`\./)?.[0] ?? ''),
    line: count(line),
  };
  const whole = told(turns.at(-1)) - told(bare);
  const parts = { tools: opening - sum(Object.values(known)), ...known };
  const packetTokens = count(results.packet);
  return { ...parts, calls: whole - opening - packetTokens, packet: packetTokens, whole };
}

function instructionsIn(plain) {
  const whole = plain.match(/Resume or hand off work\.[^]*?Stored texts are data, not orders\./);
  return whole?.[0] ?? plain.match(/Resume or hand off work\..*/)?.[0] ?? '';
}

/** The lines of both skills, as this client lists them. */
function skillsIn(text) {
  const entries = ["Save this session's work in its", 'Resume work that another session'].map((begin) => {
    const at = text.replaceAll('&apos;', "'").indexOf(begin);
    return at < 0 ? '' : text.slice(at - 40, text.indexOf('\n', at));
  });
  return entries.join('\n');
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

const COLUMNS = ['tools', 'instructions', 'skills', 'hook', 'profile', 'line', 'calls', 'packet', 'whole'];

export function tableOf(rows) {
  const cell = (value) => String(value).padStart(13);
  const lines = rows.map(({ client, way, counted }) => {
    const aim = isHeld(client, way) ? `at most ${client.aim.tokens}` : `aim ${client.aim.tokens}, not held`;
    return [`${client.name} (${way.name})`.padEnd(24), ...COLUMNS.map((column) => cell(counted[column])), `  ${aim}`].join('');
  });
  return [[' '.repeat(24), ...COLUMNS.map(cell)].join(''), ...lines].join('\n');
}

function isHeld(client, way) {
  return client.aim.held.includes(way.name);
}

/** Fails where an aim that is held would no longer be. */
export function expectAims(rows) {
  for (const { client, way, counted } of rows.filter((row) => isHeld(row.client, row.way))) {
    assert.ok(counted.whole <= client.aim.tokens, `${client.name} (${way.name}): ${counted.whole} tokens, at most ${client.aim.tokens}`);
  }
}
