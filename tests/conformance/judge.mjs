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

/** Prints what became of one scenario, and counts it. */
function count(scenario, checks) {
  const of = (wanted) => checks.filter(({ status }) => status === wanted);
  const missed = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
  if (exempt.has(scenario)) {
    if (of('FAILURE').length > 0) used.add(scenario);
    total.exempt += 1;
    console.log(`  --  ${scenario} does not count: ${exempt.get(scenario)}`);
    return;
  }
  total.scenarios += 1;
  total.passed += of('SUCCESS').length;
  console.log(`  ${String(of('SUCCESS').length).padStart(2)}  ${scenario}`);
  for (const { id, description } of of('INFO')) {
    total.notes += 1;
    console.log(`        note: ${id}: ${description}`);
  }
  for (const { id, status, errorMessage, details } of missed) {
    const name = `${scenario}:${id}`;
    if (exempt.has(name)) {
      used.add(name);
      total.exemptChecks += 1;
      console.log(`        ${status.toLowerCase()}, does not count: ${id}: ${exempt.get(name)}`);
    } else {
      problems.push(`${name}: ${status.toLowerCase()}: ${errorMessage ?? JSON.stringify(details)}`);
    }
  }
}

const exempt = exemptions();
const used = new Set();
const total = { scenarios: 0, passed: 0, notes: 0, exempt: 0, exemptChecks: 0 };
const found = findings();

console.log(`conformance: ${title}`);
for (const scenario of chosen.length > 0 ? chosen : scenariosOf(revision)) {
  const checks = found.get(scenario);
  if (checks?.length) count(scenario, checks);
  else problems.push(`${scenario} was not run`);
}
for (const name of exempt.keys()) {
  if (!used.has(name)) problems.push(`${name} is exempt, and there is nothing to exempt: take it out`);
}

const end = problems.length === 0 ? 'nothing failed' : `${problems.length} problems`;
const without = `${total.exempt} scenarios and ${total.exemptChecks} single checks do not count`;
console.log(
  `conformance: ${title}: ${total.scenarios} scenarios, ${total.passed} checks passed, ${end}; ${total.notes} notes; ${without}`,
);
for (const problem of problems) console.error(`conformance: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
