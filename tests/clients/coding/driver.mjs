// node driver.mjs HEYAIRA INSTALLED WORK PLUGIN_FOLDER CLIENT...: the coding clients, one after the other and in a ring.

import assert from 'node:assert/strict';
import path from 'node:path';
import { claudeCode } from './client/claude-code.mjs';
import { codex } from './client/codex.mjs';
import { copilot } from './client/copilot.mjs';
import { gemini } from './client/gemini.mjs';
import { openCode } from './client/opencode.mjs';
import { askClient, makeGround } from './ground.mjs';
import { expectConnected, expectHealthy, expectUndone, setUp } from './setup.mjs';
import { expectDrafts, goRound } from './ring.mjs';
import { bareRequest, countResume, counterIn, expectAims, tableOf, typicalHandoff } from './tokens.mjs';

const CLIENTS = [claudeCode, codex, gemini, openCode, copilot];

const [heyaira, installed, work, plugin, ...names] = process.argv.slice(2);
const clients = CLIENTS.filter(({ name }) => names.length === 0 || names.includes(name));
const known = CLIENTS.map(({ name }) => name);
assert.ok(names.every((name) => known.includes(name)), `known are ${known}`);

function report(what, seconds) {
  console.log(`coding: ${what.padEnd(48)} ok  ${seconds.toFixed(1)} s`);
}

/** The ways in which a client comes to HeyAira. */
const WAYS = [
  { name: 'user', tellsProfile: true, set: (where, client) => setUpFor(where, client, 'user') },
  { name: 'project', tellsProfile: true, set: (where, client) => setUpFor(where, client, 'project') },
  { name: 'plugin', tellsProfile: false, set: installPlugin },
];

// CODING_WAYS=plugin does that one alone, for whoever works on it; empty, only the tokens are counted.
const { CODING_WAYS = WAYS.map(({ name }) => name).join() } = process.env;
const wanted = WAYS.filter(({ name }) => CODING_WAYS.split(',').includes(name));

const ground = (name, options) => makeGround({ work: path.join(work, name), heyaira, installed, ...options });

/** A client that has run before is set up, taken back, and set up again. */
async function setUpFor(where, client, scope) {
  client.prepare?.(where);
  if (scope === 'project') client.trust?.(where);
  await bareRequest(where, client);
  expectUndone(where, client, scope);
  setUp(where, client, scope);
  if (scope === 'user') expectHealthy(where, client);
}

async function installPlugin(where, client) {
  client.prepare?.(where);
  client.pluginFiles?.(where, plugin);
  for (const args of client.plugin(plugin)) {
    const { code, late, stdout, stderr } = await askClient(where, client, args);
    assert.ok(code === 0 && !late, `${client.name} ${args.join(' ')}: ${code} ${stdout} ${stderr}`);
  }
}

async function settle(where, way, client) {
  const began = performance.now();
  await way.set(where, client);
  await expectConnected(where, client);
  report(`${client.name} (${way.name}): set up and connected`, (performance.now() - began) / 1000);
}

/** The same turn without HeyAira and with it. */
async function measure(client, way) {
  const name = `${client.name}-${way.name}`;
  const [without, using] = [await ground(`${name}-a`, { bare: true }), await ground(`${name}-b`)];
  client.prepare?.(without);
  const bare = await bareRequest(without, client);
  await settle(using, way, client);
  const counted = await countResume(using, client, { way, bare, line: typicalHandoff(using), count });
  await Promise.all([without, using].map(({ outside }) => outside.close()));
  return { client, way, counted };
}

for (const way of wanted) {
  const shared = await ground(way.name);
  for (const client of clients) await settle(shared, way, client);
  await goRound(shared, clients, way, report);
  if (way.name === 'user') for (const client of clients) await expectDrafts(shared, client, report);
  await shared.outside.close();
}

const count = counterIn(installed);
const rows = [];
for (const client of clients) {
  for (const way of WAYS.filter(({ name }) => name !== 'project')) rows.push(await measure(client, way));
}
console.log(tableOf(rows));
expectAims(rows);
