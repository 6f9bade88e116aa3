// `heyaira setup` with the real clients: set up twice, used, and taken back.

import assert from 'node:assert/strict';
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

/** The client itself says that the server answers, where its list of servers asks them. */
export async function expectConnected(ground, client) {
  const { code, late, stdout, stderr } = await askClient(ground, client, client.connected.args);
  assert.ok(code === 0 && !late, `${client.name}: ${stdout} ${stderr}`);
  assert.match(stdout + stderr, client.connected.says);
}
