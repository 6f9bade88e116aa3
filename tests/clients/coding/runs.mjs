// node runs.mjs HEYAIRA INSTALLED WORK CLIENT...: each coding client works alone on a task, and the run reports on it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { readLog, toldBy, turnsOf } from '../model/log.mjs';
import { startModel } from '../model/server.mjs';
import { claudeCode } from './client/claude-code.mjs';
import { codex } from './client/codex.mjs';
import { copilot } from './client/copilot.mjs';
import { gemini } from './client/gemini.mjs';
import { openCode } from './client/opencode.mjs';
import { git, heyairaSays, makeGround } from './ground.mjs';
import { run } from './process.mjs';
import { setUp, shim } from './setup.mjs';

const FILE = 'names.txt';
const TEST = `test -f ${FILE}`;
const SUBJECT = 'Keep a list of names';

/** The clients, with the model that a run asks for, and who says what it cost. */
const RUNNERS = [
  { client: codex, model: 'gpt-6.2-sol', basis: ['prices'], words: providerOfCodex },
  { client: claudeCode, model: 'claude-sonnet-5-5', basis: ['prices', 'harness'] },
  { client: gemini, model: 'gemini-3.8-flash', basis: ['prices'] },
  // Nobody knows a price of its model, and an unknown price is not 0.
  { client: openCode, model: 'model/scripted', basis: ['unknown'] },
  { client: copilot, model: 'gpt-6.2-sol', basis: ['prices', 'unknown'] },
];

const [heyaira, installed, work, ...names] = process.argv.slice(2);
const known = RUNNERS.map(({ client }) => client.name);
assert.ok(names.every((name) => known.includes(name)), `known are ${known}`);

function providerOfCodex(address) {
  const provider = `{name="model",base_url="${address}/v1",env_key="CODEX_KEY",wire_api="responses"}`;
  return ['-c', `model_providers.model=${provider}`, '-c', 'model_provider="model"'];
}

/** What the client needs in its environment to find the scripted model, and nothing that decides what it may do. */
function environmentOf(ground, client, address) {
  const { env } = client.headless(ground, { prompt: '', address });
  const own = { ...env };
  delete own.GEMINI_CLI_TRUST_WORKSPACE;
  if (own.OPENCODE_CONFIG_CONTENT) {
    const { permission, ...settings } = JSON.parse(own.OPENCODE_CONFIG_CONTENT);
    own.OPENCODE_CONFIG_CONTENT = JSON.stringify(settings);
  }
  return own;
}

/** A task whose own words are the script. */
function createTask(ground) {
  const steps = [
    `model> write ${FILE} Ada`,
    `model> shell git add ${FILE} && git commit -q -m '${SUBJECT}'`,
    'model> say The list is kept.',
  ];
  const description = ['Keep a list of names.', ...steps].join('\n');
  return heyairaSays(ground, 'task', 'create', '--title', SUBJECT, '--summary', 'Nobody has begun.', '--description', description);
}

/** One run of the client on the task; the model's log and the report. */
async function start(ground, { client, model, words }, task) {
  const log = path.join(ground.work, 'model');
  const scripted = await startModel({ log });
  try {
    const asked = ['--task', task.task_id, '--harness', client.name, '--model', model, '--test', TEST, '--timeout', '2m', '--json'];
    const extra = words ? ['--', ...words(scripted.address)] : [];
    const env = { ...ground.env, ...environmentOf(ground, client, scripted.address) };
    const ended = await run(['heyaira', 'run', 'start', ...asked, ...extra], { cwd: ground.repository, env, seconds: 180 });
    const said = `${client.name}: ${ended.stdout.slice(-3_000)}\n${ended.stderr.slice(-2_000)}`;
    assert.ok(!ended.late, `did not end in time: ${said}`);
    assert.equal(ended.code, 0, said);
    return { log, report: JSON.parse(ended.stdout), seconds: ended.seconds };
  } finally {
    await scripted.close();
  }
}

/** The report says what happened, as git and the client's own stream of events have it. */
function expectReport(ground, { client, model, basis }, task, report) {
  const said = JSON.stringify(report, null, 1);
  assert.equal(report.outcome, 'succeeded', said);
  assert.equal(report.task_id, task.task_id, said);
  assert.equal(report.harness.name, client.name, said);
  assert.ok(report.harness.version?.includes(client.version), said);
  assert.ok(report.native_session_id, said);
  assert.equal(report.session_ref, `${client.name}:${report.native_session_id}`, said);
  assert.ok(report.model && model.endsWith(report.model.split('/').at(-1)), said);
  const { input, cache_read: cached, output } = report.usage;
  assert.ok(input + cached > 0 && output > 0, said);
  assert.ok(basis.includes(report.cost.basis), said);
  assert.equal(report.cost.usd === undefined, report.cost.basis === 'unknown', said);
  if (report.cost.usd !== undefined) assert.ok(report.cost.usd > 0, said);
  expectWork(ground, report, said);
  assert.deepEqual(report.tests.map(({ command, exit }) => [command, exit.code]), [[TEST, 0]], said);
  assert.match(JSON.stringify(report.said), /The list is kept\./);
}

function expectWork(ground, { work: done }, said) {
  assert.deepEqual(done.commits.map(({ subject }) => subject), [SUBJECT], said);
  assert.equal(done.commits_total, 1, said);
  assert.equal(done.uncommitted_total, 0, said);
  assert.equal(done.result_commit, git(ground, 'rev-parse', done.branch), said);
  assert.equal(git(ground, 'show', `${done.branch}:${FILE}`), 'Ada', said);
  assert.ok(!fs.existsSync(path.join(ground.repository, FILE)), 'the run works in a worktree of its own');
}

/** The whole brief reached the model, and no way to write to HeyAira with it. */
function expectBrief({ name }, log, task) {
  const requests = readLog(log);
  for (const { failure } of requests) assert.equal(failure, undefined, `a step of ${name}`);
  const turns = turnsOf(requests);
  assert.ok(turns.length >= 3, `${name} did ${turns.length} turns`);
  for (const turn of turns) {
    assert.doesNotMatch(JSON.stringify(turn.tools), /heyaira/i, `${name} offers no tool of HeyAira in a run`);
    assert.doesNotMatch(toldBy(turn), /mcp__heyaira|- heyaira_/, `${name} names no tool of HeyAira in a run`);
  }
  const told = toldBy(turns[0]);
  for (const part of ['## The work contract', TEST, task.task_id]) assert.ok(told.includes(part), `${name} is told ${part}`);
}

/** Recorded, the task has the receipt, and whoever resumes it reads whose it is. */
function expectRecorded(ground, task, report) {
  heyairaSays(ground, 'run', 'record', report.run_id, '--expected-version', String(task.version));
  const { version, line } = heyairaSays(ground, 'task', 'get', task.task_id);
  assert.equal(version, task.version + 1);
  const packet = JSON.stringify(heyairaSays(ground, 'resume', line ?? `handoff: ${task.task_id.slice(0, 8)} v${version}`));
  for (const part of [report.session_ref, report.work.result_commit, report.work.branch]) {
    assert.ok(packet.includes(part), `the receipt has ${part}: ${packet}`);
  }
}

for (const runner of RUNNERS.filter(({ client }) => names.length === 0 || names.includes(client.name))) {
  const { client } = runner;
  const ground = await makeGround({ work: path.join(work, client.name), heyaira, installed });
  client.prepare?.(ground);
  // Its server is there, so that a run has something to leave out.
  setUp(ground, client, 'user');
  shim(ground, client);
  const task = createTask(ground);
  const { log, report, seconds } = await start(ground, runner, task);
  expectReport(ground, runner, task, report);
  expectBrief(client, log, task);
  expectRecorded(ground, task, report);
  await ground.outside.close();
  console.log(`runs: ${`${client.name}: works alone and is reported on`.padEnd(48)} ok  ${seconds.toFixed(1)} s`);
}
