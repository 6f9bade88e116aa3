// Counts what the conformance suite found, and fails unless all passed that must.
//
//   node judge.mjs TITLE REVISION RESULTS_DIR [SCENARIO...] <EXEMPTIONS
//
// Without scenarios, all that the suite has for the revision. An exemption is a line: SCENARIO or SCENARIO:CHECK, and
// why it does not count. One that has nothing to exempt is a failure: it would hide the next one.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const [title, revision, resultsDir, ...chosen] = process.argv.slice(2);
const problems = [];

/** The server's scenarios of a revision, those too that it runs without scoring. */
function scenariosOf(revision) {
  const file = new URL(`node_modules/@modelcontextprotocol/conformance/requirements/${revision}.yaml`, import.meta.url);
  const required = parse(readFileSync(file, 'utf8'));
  const others = required.not_scored.filter(({ leg }) => leg === 'server').map(({ scenario }) => scenario);
  return [...required.server, ...others];
}

/** What was found, by scenario. */
function findings() {
  const found = new Map();
  for (const folder of readdirSync(resultsDir)) {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T[\dZ-]+$/, '');
    found.set(scenario, JSON.parse(readFileSync(join(resultsDir, folder, 'checks.json'), 'utf8')));
  }
  return found;
}

/** Lines of a name and a reason. */
function exemptions() {
  const lines = readFileSync(0, 'utf8').split('\n').filter((line) => line.trim());
  return new Map(lines.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]));
}

const exempt = exemptions();
const used = new Set();
const found = findings();
const scenarios = chosen.length > 0 ? chosen : scenariosOf(revision);
const total = { scenarios: 0, passed: 0, noted: 0, exempt: 0 };

console.log(`conformance: ${title}`);
for (const scenario of scenarios) {
  const checks = found.get(scenario);
  if (!checks?.length) {
    problems.push(`${scenario} was not run`);
    continue;
  }
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const noted = checks.filter(({ status }) => status === 'INFO').length;
  const missed = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
  const isFailed = missed.some(({ status }) => status === 'FAILURE');
  if (exempt.has(scenario)) {
    if (isFailed) used.add(scenario);
    console.log(`  --   ${scenario}: does not count: ${exempt.get(scenario)}`);
    continue;
  }
  total.scenarios += 1;
  total.passed += passed;
  total.noted += noted;
  console.log(`  ${String(passed).padStart(2)}   ${scenario}`);
  for (const { id, status, errorMessage, details } of missed) {
    const name = `${scenario}:${id}`;
    if (exempt.has(name)) {
      used.add(name);
      total.exempt += 1;
      console.log(`  --     ${id}: does not count (${status.toLowerCase()}): ${exempt.get(name)}`);
    } else {
      problems.push(`${name}: ${status.toLowerCase()}: ${errorMessage ?? JSON.stringify(details)}`);
    }
  }
}
for (const name of exempt.keys()) {
  if (!used.has(name)) problems.push(`${name} is exempt, and there is nothing to exempt: take it out`);
}

const failed = problems.length === 0 ? 'nothing failed' : `${problems.length} problems`;
console.log(
  `conformance: ${title}: ${total.scenarios} scenarios, ${total.passed} checks passed, ${failed}; ` +
    `${total.noted} notes, ${total.exempt} single checks and ${scenarios.filter((name) => exempt.has(name)).length} scenarios do not count`,
);
for (const problem of problems) console.error(`conformance: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
