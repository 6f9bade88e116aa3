// The main job: one session hands its task off, a second one takes it over and finishes it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const JOB = JSON.parse(readFileSync(new URL('job.json', import.meta.url), 'utf8'));

export const RESUME_CALLS = ['server_identity', 'continuity_context', 'task_takeover'];

/** Both sessions stay open to the end, as two agents that do not know of each other. */
export async function doTheJob(first, second, profile) {
  await expectSurface(first);
  await expectIdentity(first, profile);
  await expectWrongProfileRefused(first, profile);
  const { line, memoryId } = await handOff(first, profile);
  const { taskId, version } = await takeOver(second, profile, line, memoryId);
  await expectConflict(first, profile, taskId, version);
  await finish(second, profile, taskId, version);
  await expectUnknownArgumentRefused(second);
}

async function expectSurface(session) {
  const { tools, nextCursor } = await session.request('tools/list');
  assert.equal(nextCursor, undefined, 'next page of tools');
  assert.deepEqual(tools.map(({ name }) => name), JOB.tools, 'tools, in order');
  for (const { name, inputSchema } of tools) {
    assert.equal(inputSchema.type, 'object', `schema type of ${name}`);
    assert.equal(inputSchema.additionalProperties, false, `additionalProperties of ${name}`);
  }

  const { prompts } = await session.request('prompts/list');
  expectIncludes('prompts/list', prompts.map(({ name }) => name), JOB.prompts);
  const { resources } = await session.request('resources/list');
  expectIncludes('resources/list', resources.map(({ uri }) => uri), JOB.resources);
  const { contents } = await session.request('resources/read', { uri: JOB.resources[0] });
  assert.equal(contents.length, 1, `contents of ${JOB.resources[0]}`);
  expectIncludes('the procedure', contents[0].text, ['task_update']);
}

async function expectIdentity(session, profile) {
  const identity = await session.call('server_identity');
  for (const part of ['resource', 'instance', 'project']) {
    assert.equal(identity[part], profile[part], `${part} of server_identity`);
  }
  const answer = JSON.stringify(identity);
  assert.ok(!('write_context' in identity), `server_identity gives the write_context away: ${answer}`);
  assert.ok(!answer.includes(pinOf(profile)), `server_identity gives the pin away: ${answer}`);
}

/** The profile of another project or another generation must never write here. */
async function expectWrongProfileRefused(session, profile) {
  const other = profile.write_context.slice(0, -1) + (profile.write_context.endsWith('0') ? '1' : '0');
  const args = { write_context: other, title: 'Lost', summary: 'This must not be stored.' };
  const error = await session.refused('identity_mismatch', 'task_create', args);
  assert.ok(!error.includes(pinOf(profile)), `the error gives the pin away: ${error}`);
  const { total } = await session.call('task_list', { query: 'Lost' });
  assert.equal(total, 0, 'tasks stored with a wrong write_context');
}

function pinOf(profile) {
  return profile.write_context.split('#')[1];
}

/** The first session: claim a task, work, leave it in a state that needs no conversation. */
async function handOff(session, profile) {
  const write = { write_context: profile.write_context };
  const created = await session.call('task_create', { ...write, ...JOB.task });
  const task = { task_id: created.task_id, ...write };
  const first8 = created.task_id.slice(0, 8);
  assert.equal(created.version, 1, 'version of a new task');
  assert.equal(created.line, `handoff: ${first8} v1`, 'line of a new task');

  const claim = { ...task, expected_version: 1, session_ref: JOB.first_session };
  const claimed = await session.call('task_takeover', claim);
  assert.equal(claimed.version, 2, 'version after claiming');
  assert.equal(claimed.status, 'in_progress', 'status after claiming');
  assert.equal(claimed.owner, JOB.first_session, 'owner after claiming');

  const worked = await session.call('task_update', { ...task, expected_version: 2, ...JOB.work });
  assert.equal(worked.version, 3, 'version after working');

  const { id: memoryId } = await session.call('memory_add', { ...write, ...JOB.decision, task_id: created.task_id });
  const handoff = { ...task, expected_version: 3, ...handoffNaming(memoryId), work_receipt: JOB.receipt };
  const saved = await session.call('task_update', handoff);
  assert.equal(saved.version, 4, 'version of the handoff');
  assert.equal(saved.line, `handoff: ${first8} v${saved.version}`, 'line of the handoff');
  assert.deepEqual(saved.warnings ?? [], [], 'warnings about a complete handoff');
  return { line: saved.line, memoryId };
}

function handoffNaming(memoryId) {
  return { ...JOB.handoff, handoff_next: JOB.handoff.handoff_next.replace('{memory}', memoryId) };
}

/** The second session: three calls from a pasted line to the ownership of the task. */
async function takeOver(session, profile, line, memoryId) {
  await expectIdentity(session, profile);
  const packet = await session.call('continuity_context', { handoff: line });
  expectPacket(packet, profile, memoryId);
  const taken = await session.call('task_takeover', {
    task_id: packet.task_id,
    expected_version: packet.version,
    write_context: profile.write_context,
    session_ref: JOB.second_session,
  });
  const lineVersion = Number(line.split(' v').at(-1));
  assert.equal(taken.version, lineVersion + 1, 'version after the takeover');
  assert.equal(taken.owner, JOB.second_session, 'owner after the takeover');
  return { taskId: packet.task_id, version: taken.version };
}

function expectPacket(packet, profile, memoryId) {
  assert.equal(packet.project, profile.project, 'project of the packet');
  assert.equal(packet.instance, profile.instance.slice(0, 8), 'instance of the packet');
  assert.equal(packet.handoff_next, handoffNaming(memoryId).handoff_next, 'handoff_next');
  assert.equal(packet.handoff_completed, completedText(), 'handoff_completed');
  assert.deepEqual(packet.open_boxes, [JOB.open_box], 'open boxes');
  assert.equal(packet.moved, undefined, 'changes since the line');

  const memory = packet.memories.find(({ id }) => id === memoryId);
  assert.equal(memory?.summary, JOB.decision.summary, 'the memory that handoff_next names');
  for (const field of ['session_ref', 'model', 'branch', 'base_commit', 'result_commit', 'tests']) {
    assert.equal(packet.receipt[field], JOB.receipt[field], `${field} of the receipt`);
  }
}

function completedText() {
  return `${JOB.work.handoff_completed}\n${JOB.handoff.handoff_completed_append}`;
}

/** The first session must learn that the task is no longer its own, in words that need no second look. */
async function expectConflict(session, profile, taskId, version) {
  const error = await session.refused('version_conflict', 'task_update', {
    task_id: taskId,
    expected_version: version - 1,
    write_context: profile.write_context,
    ...JOB.late_update,
  });
  expectIncludes('the conflict', error, [`version ${version}`, 'taken it over', JOB.second_session]);
}

async function finish(session, profile, taskId, version) {
  const done = await session.call('task_update', {
    task_id: taskId,
    expected_version: version,
    write_context: profile.write_context,
    ...JOB.done,
  });
  assert.equal(done.version, version + 1, 'version of the finished task');

  const task = await session.call('task_get', { task_id: taskId.slice(0, 8) });
  assert.equal(task.task_id, taskId, 'id of the finished task');
  assert.equal(task.status, 'done', 'status of the finished task');
  assert.equal(task.current_version, version + 1, 'current version of the finished task');
  const takenOver = `Taken over by session ${JOB.second_session} at `;
  expectIncludes('handoff_completed of the finished task', task.handoff_completed, [completedText(), takenOver]);

  const search = { kind: 'result', query: JOB.result_query, task_id: taskId };
  const { memories } = await session.call('memory_search', search);
  assert.deepEqual(memories.map(({ summary }) => summary), [JOB.done.summary], 'results found');
  const read = await session.call('memory_search', { ids: [memories[0].id] });
  assert.equal(read.memories[0].body, JOB.done.result, 'body of the result');
}

async function expectUnknownArgumentRefused(session) {
  const error = await session.refused('invalid_argument', 'task_list', { state: 'in_progress' });
  expectIncludes('the refusal of an unknown argument', error, ['state', 'did you mean status?']);
}

function expectIncludes(what, actual, parts) {
  for (const part of parts) {
    assert.ok(actual.includes(part), `${what} lacks ${JSON.stringify(part)}: ${JSON.stringify(actual)}`);
  }
}
