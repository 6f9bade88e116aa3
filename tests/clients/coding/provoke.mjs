// Provokes a client in runs of its own, several at once, and compares each report with the tables of `provocations.mjs`.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { heyairaSays } from './ground.mjs';
import { ENDS, FAILURES, IMPATIENT, OUTSIDE, REFUSALS, failing } from './provocations.mjs';
import { startRun } from './runner.mjs';

/** Clients mostly wait between two attempts. */
const AT_ONCE = 6;

/** @returns how many provocations there were */
export async function provoke(ground, runner) {
  const kinds = [[REFUSALS, expectRefused], [ENDS, expectEnded], [FAILURES, expectFailed]];
  const rows = kinds.flatMap(([table, expect]) => table.map((row) => ({ ...row, expect })));
  const own = rows.filter(({ client }) => client === runner.client.name);
  const problems = [];
  const one = (row) => row.expect(ground, runner, row).catch((error) => problems.push(`${row.what}: ${error.stack}`));
  // What stands in files of the home is there for one run alone.
  for (const row of own.filter(({ files, settings }) => files || settings)) await one(row);
  const { settings } = IMPATIENT[runner.client.name] ?? {};
  await withFiles(settingsWith(ground, runner, settings), () => atOnce(own.filter((row) => !row.files && !row.settings), one));
  assert.ok(problems.length === 0, `${runner.client.name}, ${problems.length} of ${own.length}:\n${problems.join('\n\n')}`);
  return own.length;
}

async function atOnce(rows, work) {
  const left = [...rows];
  const worker = async () => {
    for (let row = left.shift(); row; row = left.shift()) await work(row);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function instructions(steps) {
  return ['--instructions', ['Do as is written.', ...steps.map((step) => `model> ${step}`)].join('\n')];
}

/** The tool is refused, the client ends well, and nothing is there. */
async function expectRefused(ground, runner, { what, step, denied, files, words: extra = [] }) {
  const task = heyairaSays(ground, 'task', 'create', '--title', what, '--summary', 'Nobody has begun.');
  const asked = ['--task', task.task_id, '--timeout', '60s', ...instructions([step, 'say I am done.'])];
  const { report, said } = await withFiles(files?.(ground), () => startRun(ground, runner, { asked, extra }));
  assert.deepEqual([report.outcome, report.exit.code], ['no_work', 0], said);
  assert.deepEqual(report.said.denied_tools, denied, said);
  assert.ok(!fs.existsSync(OUTSIDE), said);
  heyairaSays(ground, 'run', 'record', report.run_id, '--expected-version', String(task.version));
  const told = heyairaSays(ground, 'task', 'get', task.task_id).receipt.completed_work;
  for (const { tool } of denied) assert.ok(told.includes(tool), `the receipt tells ${tool}: ${told}`);
}

/** Settings of its user, for the time of one run. */
async function withFiles(files = {}, work) {
  const before = Object.keys(files).map((file) => [file, fs.existsSync(file) ? fs.readFileSync(file) : undefined]);
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  try {
    return await work();
  } finally {
    for (const [file, text] of before) text === undefined ? fs.rmSync(file) : fs.writeFileSync(file, text);
  }
}

/** The client's own file of settings with more in it, or another text. */
function settingsWith(ground, { client }, settings) {
  if (!settings) return {};
  const file = client.settings(ground);
  if (typeof settings === 'string') return { [file]: settings };
  return { [file]: JSON.stringify({ ...JSON.parse(fs.readFileSync(file, 'utf8')), ...settings }) };
}

async function expectEnded(ground, runner, { outcome, code, says, steps = ['say Done.'], asked = [], words: extra = [], env, settings }) {
  const given = { asked: [...asked, '--timeout', '60s', ...instructions(steps)], extra, env };
  const { report, said } = await withFiles(settingsWith(ground, runner, settings), () => startRun(ground, runner, given));
  assert.deepEqual([report.outcome, report.exit.code], [outcome, code], said);
  assert.match(report.reason, says, said);
}

/** The client says that its model failed, whatever its exit code is; what it had done stays in the report. */
async function expectFailed(ground, runner, row) {
  const { model, env, provider } = failing(row);
  const steps = model.after ? ['write a.txt x', 'say Done.'] : ['say Done.'];
  const asked = ['--timeout', row.timeout ?? '3m', '--silence', 'none', ...instructions(steps)];
  const { report, said } = await startRun(ground, runner, { asked, model, env, provider });
  assert.deepEqual([report.outcome, report.exit.code], [row.outcome, row.code], said);
  if (row.outcome === 'harness_error') assert.match(report.reason, /^Its model could not be reached or did not answer/, said);
  const told = `${report.reason}\n${report.said.errors.join('\n')}`;
  assert.match(told, row.says, said);
  assert.equal(report.work.uncommitted_total, model.after ? 1 : 0, said);
}
