// node driver.mjs HEYAIRA INSTALLED WORK PLUGIN_FOLDER CLIENT...: the coding clients, one after the other and in a ring.

import assert from 'node:assert/strict';
import path from 'node:path';
import { claudeCode } from './client/claude-code.mjs';
import { codex } from './client/codex.mjs';
import { copilot } from './client/copilot.mjs';
import { gemini } from './client/gemini.mjs';
import { openCode } from './client/opencode.mjs';
import { askClient, makeGround } from './ground.mjs';
import { expectConnected, expectUndone, setUp } from './setup.mjs';
import { goRound } from './ring.mjs';
import { bareRequest, countResume, counterIn, expectAims, tableOf, typicalHandoff } from './tokens.mjs';

const CLIENTS = [claudeCode, codex, gemini, openCode, copilot];

const [heyaira, installed, work, plugin, ...names] = process.argv.slice(2);
const clients = CLIENTS.filter(({ name }) => names.length === 0 || names.includes(name));
assert.ok(clients.length > 0 && names.every((name) => CLIENTS.some((client) => client.name === name)), `known are ${CLIENTS.map(({ name }) => name)}`);

function report(what, seconds) {
  console.log(`coding: ${what.padEnd(48)} ok  ${seconds.toFixed(1)} s`);
}

/** The same turn without HeyAira and with it. */
async function measure(client, count) {
  const [without, using] = [await ground(`${client.name}-a`, { bare: true }), await ground(`${client.name}-b`)];
  client.prepare?.(without);
  const bare = await bareRequest(without, client);
  await installPlugin(using, client);
  const counted = await countResume(using, client, { bare, line: typicalHandoff(using), count });
  await Promise.all([without, using].map(({ outside }) => outside.close()));
  return { client, counted };
}

const ground = (name, options) => makeGround({ work: path.join(work, name), heyaira, installed, ...options });

async function installPlugin(ground, client) {
  const began = performance.now();
  client.prepare?.(ground);
  client.pluginFiles?.(ground, plugin);
  for (const args of client.plugin(plugin)) {
    const { code, late, stdout, stderr } = await askClient(ground, client, args);
    assert.ok(code === 0 && !late, `${client.name} ${args.join(' ')}: ${code} ${stdout} ${stderr}`);
  }
  await expectConnected(ground, client);
  report(`${client.name}: plugin installed, server connected`, (performance.now() - began) / 1000);
}

/** A client that has run before is set up, used, and taken back. */
async function setUpFor(ground, client, scope) {
  const began = performance.now();
  client.prepare?.(ground);
  await bareRequest(ground, client);
  expectUndone(ground, client, scope);
  setUp(ground, client, scope);
  await expectConnected(ground, client);
  report(`${client.name}: set up (${scope}), taken back, set up`, (performance.now() - began) / 1000);
}

const WAYS = {
  plugin: installPlugin,
  user: (where, client) => setUpFor(where, client, 'user'),
  project: (where, client) => setUpFor(where, client, 'project'),
};

for (const way of (process.env.WAYS ?? 'user,plugin').split(',')) {
  const shared = await ground(way);
  for (const client of clients) await WAYS[way](shared, client);
  await goRound(shared, clients, { hooks: true, skills: true }, report);
  await shared.outside.close();
}

const count = counterIn(installed);
const rows = [];
for (const client of clients) rows.push(await measure(client, count));
console.log(tableOf(rows));
expectAims(rows);
