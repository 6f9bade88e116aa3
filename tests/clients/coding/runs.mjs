// node runs.mjs HEYAIRA INSTALLED WORK CLIENT...: each coding client works alone on a task, its session goes on, and it is
// provoked; the runs report on it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { readLog, toldBy, turnsOf } from '../model/log.mjs';
import { git, heyairaSays } from './ground.mjs';
import { provoke } from './provoke.mjs';
import { RUNNERS, makeRunGround, startRun } from './runner.mjs';

const FILE = 'names.txt';
const TEST = `test -f ${FILE}`;
const SUBJECT = 'Keep a list of names';
/** The scripted model reports so many for each of its answers. */
const ANSWER = 42;
/** Tools by which a model asks whoever sits before it. */
const QUESTIONS = /^(ask_user|AskUserQuestion|question|request_user_input(_async)?)$/;

const [heyaira, installed, work, ...names] = process.argv.slice(2);
const known = RUNNERS.map(({ client }) => client.name);
assert.ok(names.every((name) => known.includes(name)), `known are ${known}`);

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
  assert.ok(input > 0 && cached > 0, said);
  assert.equal(output, 3 * ANSWER, said);
  assert.equal(report.cost.basis, basis, said);
  assert.equal(report.cost.usd === undefined, basis === 'unknown', said);
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

/** The whole brief reached the model, and with it no way to write to HeyAira and none to ask anybody. */
function expectBrief(ground, { name }, log, report) {
  const requests = readLog(log);
  for (const { failure } of requests) assert.equal(failure, undefined, `a step of ${name}`);
  const turns = turnsOf(requests);
  assert.ok(turns.length >= 3, `${name} did ${turns.length} turns`);
  for (const turn of turns) {
    assert.doesNotMatch(JSON.stringify(turn.tools), /heyaira/i, `${name} offers no tool of HeyAira in a run`);
    assert.doesNotMatch(toldBy(turn), /mcp__heyaira|- heyaira_/, `${name} names no tool of HeyAira in a run`);
    assert.deepEqual(turn.tools.map((tool) => tool.name).filter((tool) => QUESTIONS.test(tool)), [], `${name} asks nobody`);
  }
  const brief = fs.readFileSync(path.join(path.dirname(report.log.path), 'brief.md'), 'utf8').trim();
  for (const part of ['## The work contract', TEST, report.task_id]) assert.ok(brief.includes(part), `the brief has ${part}`);
  assert.ok(toldBy(turns[0]).includes(brief), `${name} tells its model the whole brief`);
  return { first: Buffer.byteLength(JSON.stringify(turns[0].body)), brief: Buffer.byteLength(brief) };
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

/** The session goes on where it worked; what the first run spent is not in the second one's report. */
async function expectResumed(ground, runner, first) {
  const steps = ['Go on.', 'model> shell git log -1', 'model> say It is still kept.'].join('\n');
  const { branch, worktree } = first.work;
  const asked = ['--resume', first.native_session_id, '--branch', branch, '--worktree', worktree, '--instructions', steps];
  const { report, said } = await startRun(ground, runner, { asked: [...asked, '--timeout', '2m'] });
  assert.deepEqual([report.outcome, report.exit.code], ['no_work', 0], said);
  assert.deepEqual([report.native_session_id, report.is_resumed], [first.native_session_id, true], said);
  assert.equal(report.usage.output, 2 * ANSWER, said);
  const { input, cache_read: cached, cache_write: written } = report.usage;
  assert.ok(input + cached + written > 0, said);
  assert.equal(report.cost.basis, runner.basis, said);
  if (report.cost.usd !== undefined) assert.ok(report.cost.usd > 0 && report.cost.usd < first.cost.usd, said);
  assert.match(JSON.stringify(report.said), /It is still kept\./);
  return report;
}

function say(what, seconds, more = '') {
  console.log(`runs: ${what.padEnd(56)} ok  ${seconds.toFixed(1)} s${more}`);
}

const dollars = ({ usd }) => (usd === undefined ? 'unknown' : `$${usd.toFixed(4)}`);

for (const runner of RUNNERS.filter(({ client }) => names.length === 0 || names.includes(client.name))) {
  const { client } = runner;
  const ground = await makeRunGround(runner, { work, heyaira, installed });
  const task = createTask(ground);
  const asked = ['--task', task.task_id, '--test', TEST, '--timeout', '2m'];
  const { log, report, seconds, said, code } = await startRun(ground, runner, { asked });
  assert.equal(code, 0, said);
  expectReport(ground, runner, task, report);
  const sizes = expectBrief(ground, client, log, report);
  expectRecorded(ground, task, report);
  say(`${client.name}: works alone and is reported on`, seconds, `, first request ${sizes.first} bytes, brief ${sizes.brief}`);
  const resumed = await expectResumed(ground, runner, report);
  const costs = `, ${dollars(report.cost)} and then ${dollars(resumed.cost)}`;
  say(`${client.name}: goes on, and costs what it adds`, resumed.harness_ms / 1000, costs);
  const began = performance.now();
  const provoked = await provoke(ground, runner);
  say(`${client.name}: is provoked in ${provoked} ways`, (performance.now() - began) / 1000);
  await ground.outside.close();
}
