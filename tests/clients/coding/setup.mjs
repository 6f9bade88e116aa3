// `heyaira setup` with the real clients: set up twice, used, and taken back.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { askClient, heyairaSays } from './ground.mjs';

/** Every file of the home and the repository, but git's own and those of HeyAira itself. */
function filesOf({ home, repository }) {
  const ours = [path.join(home, '.local/share/heyaira'), path.join(home, '.local/state/heyaira'), path.join(repository, '.git')];
  const files = new Map();
  const visit = (folder) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      if (ours.includes(file)) continue;
      if (entry.isDirectory()) visit(file);
      else if (entry.isFile()) files.set(file, fs.readFileSync(file).toString('base64'));
    }
  };
  [home, repository].forEach(visit);
  return files;
}

/** Sets a client up, and again, which must change nothing. */
export function setUp(ground, client, scope) {
  heyairaSays(ground, 'setup', client.name, '--project', 'ledger', '--scope', scope);
  const after = filesOf(ground);
  heyairaSays(ground, 'setup', client.name, '--project', 'ledger', '--scope', scope);
  assert.deepEqual(filesOf(ground), after, `${client.name}: the second set-up changes nothing`);
}

/** Sets a client up that has run before, and takes it back: every file is what it was, byte for byte. */
export function expectUndone(ground, client, scope) {
  const before = filesOf(ground);
  setUp(ground, client, scope);
  assert.notDeepEqual(filesOf(ground), before, `${client.name} is set up`);
  heyairaSays(ground, 'setup', client.name, '--project', 'ledger', '--scope', scope, '--undo');
  assert.deepEqual(filesOf(ground), before, `${client.name}: all is as before the set-up`);
}

/** `heyaira doctor` finds the client, and says that its server serves this project and that the client connects to it. */
export function expectHealthy(ground, client) {
  shim(ground, client);
  // It waits 10 seconds for a client, which on a busy machine may be late: then it says nothing of it, and is asked again.
  const isSilent = (one) => one.version === null || (client.connected.asks && [null, 'nothing'].includes(one.client_says));
  let told = askDoctor(ground, client);
  for (let attempt = 1; attempt < 3 && isSilent(told); attempt += 1) told = askDoctor(ground, client);
  assert.ok(told.installed && told.set_up, JSON.stringify(told));
  assert.ok(told.version?.includes(client.version), JSON.stringify(told));
  assert.equal(told.serves, 'ledger', JSON.stringify(told));
  if (client.connected.asks) assert.equal(told.client_says, 'connected', JSON.stringify(told));
  assert.deepEqual(told.problems.filter((problem) => !client.owes?.test(problem)), [], client.name);
}

function askDoctor(ground, client) {
  // It ends with a code of its own where anything is to be mended.
  const { stdout } = spawnSync('heyaira', ['doctor', '--json'], { cwd: ground.repository, env: ground.env, encoding: 'utf8' });
  return JSON.parse(stdout).clients.find((one) => one.client === client.name);
}

/** The client's command on the PATH, with the variables that keep it at home. */
export function shim(ground, client) {
  const variables = Object.entries(client.env).map(([name, value]) => `export ${name}='${value}'`);
  const words = client.program(ground).map((word) => `'${word}'`).join(' ');
  const lines = ['#!/bin/sh', ...variables, `exec ${words} "$@"`, ''];
  fs.writeFileSync(path.join(ground.programs, client.command), lines.join('\n'), { mode: 0o755 });
}

/** The client itself says that the server answers, where its list of servers asks them. */
export async function expectConnected(ground, client) {
  const { code, late, stdout, stderr } = await askClient(ground, client, client.connected.args);
  assert.ok(code === 0 && !late, `${client.name}: ${stdout} ${stderr}`);
  assert.match(stdout + stderr, client.connected.says);
}
