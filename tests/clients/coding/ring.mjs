// One task goes round: each client takes over what the one before it handed off, does one step and hands it off again.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expectAtHome, expectConflict, expectDone, expectNoStoredText, expectPlain, expectTold } from './expect.mjs';
import { git, heyairaSays, runClient } from './ground.mjs';
import { toldBy } from '../model/log.mjs';
import { MARK, beginTask, finish, handOff, promptOf, takeOver } from './job.mjs';

/**
 * @param clients in their order; the first one ends the ring too
 * @param way how they were set up
 * @param report is called with one line for each run
 */
export async function goRound(ground, clients, way, report) {
  const created = heyairaSays(ground, 'task', 'create', '--title', `${MARK} Keep a list of names`, '--summary', `${MARK}: nobody has begun.`);
  const handedOff = [];
  let line;
  for (const [index, client] of [...clients, clients[0]].entries()) {
    const next = [...clients, clients[0]][index + 1];
    const steps = [
      ...(line ? takeOver(way) : beginTask(client, created.task_id, way)),
      ...(next ? handOff(client, next.name) : finish(client)),
    ];
    const words = line ?? 'Begin the task that keeps a list of names.';
    const asked = ground.outside.asked.length;
    const run = await runClient(ground, client, promptOf(words, steps));
    const { turns, results, native } = expectDone(client, run, steps);
    expectTold(client, turns, native);
    expectNoStoredText(client, turns);
    expectAtHome(client, ground.outside.asked.slice(asked));
    expectPlain('server_identity', results.identity);
    expectTakenOver(client, results, line, handedOff.at(-1));
    if (next) {
      expectConflict(results.refused);
      line = expectPlain('task_update', results.saved).line;
      handedOff.push(`${client.name}:${native}`);
      expectReceipt(ground, created.task_id, client, native);
      if (index === 0) heyairaSays(ground, 'message', 'send', '--to', created.task_id, '--text', `${MARK}: mind the order.`);
    }
    report(`${client.name}: ${next ? `hands off to ${next.name}` : 'finishes'}`, run.seconds);
  }
  const names = fs.readFileSync(path.join(ground.repository, 'names.txt'), 'utf8').trim().split('\n');
  assert.deepEqual(names, [...clients.slice(1), clients[0]].map(({ name }) => name), 'first steps that were done');
  assert.equal(heyairaSays(ground, 'task', 'get', created.task_id).status, 'done');
}

/** A session that ends without a handoff leaves a draft, and the next one is told of it. */
export async function expectDrafts(ground, client, report) {
  const began = performance.now();
  git(ground, 'add', '.');
  git(ground, 'commit', '-q', '--allow-empty', '-m', 'Keep what was done');
  const leave = ['model> write left.txt something', 'model> say Enough for today.'];
  expectDone(client, await runClient(ground, client, promptOf('Begin something.', leave)), leave);
  const ask = ['model> say Good morning.'];
  const { turns } = expectDone(client, await runClient(ground, client, promptOf('Good morning.', ask)), ask);
  const said = 'A session ended in this repository without a handoff and left 1 uncommitted file';
  assert.ok(toldBy(turns[0]).includes(said), `${client.name}: the hook of SessionEnd kept a draft`);
  fs.rmSync(path.join(ground.repository, 'left.txt'));
  heyairaSays(ground, 'handoff', 'draft', '--clear');
  report(`${client.name}: leaves a draft, and is told of it`, (performance.now() - began) / 1000);
}

function expectTakenOver(client, results, line, before) {
  if (line === undefined) return;
  const packet = expectPlain('continuity_context', results.packet);
  assert.ok(line.includes(packet.task_id.slice(0, 8)));
  assert.equal(packet.written_by, before, `${client.name} is told who wrote the handoff`);
  assert.ok(packet.handoff_next.endsWith(`Previous session: ${before}`), packet.handoff_next);
  assert.ok(packet.memories.length >= 1, 'the decision comes along');
}

/** The session's native id, by what the hook said; the harness, by what the client told our server. */
function expectReceipt(ground, task, client, native) {
  const { receipt } = heyairaSays(ground, 'task', 'get', task);
  assert.equal(receipt.session_ref, `${client.name}:${native}`);
  assert.match(receipt.harness, client.harness, `harness of ${client.name}`);
}
