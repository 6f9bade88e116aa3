// A home, a repository and a HeyAira of their own for one client; nothing in them outlives the test.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { startModel } from '../model/server.mjs';
import { run } from './process.mjs';
import { startOutside } from './outside.mjs';

export const PROJECT = 'ledger';

/** What clients share: one user's home with its database, and the repository that they work in. */
export async function makeGround({ work, heyaira, installed, bare = false }) {
  const home = path.join(work, 'home');
  const repository = path.join(work, 'repository');
  const programs = path.join(work, 'programs');
  for (const folder of [home, repository, programs]) fs.mkdirSync(folder, { recursive: true });
  fs.symlinkSync(heyaira, path.join(programs, 'heyaira'));
  const outside = await startOutside();
  const ground = { work, home, repository, programs, installed, outside, runs: 0 };
  ground.env = environment(ground);
  git(ground, 'init', '-q', '-b', 'main');
  fs.writeFileSync(path.join(repository, 'AGENTS.md'), '# Ledger\n\nKeep it small.\n');
  git(ground, 'add', '.');
  git(ground, 'commit', '-q', '-m', 'Begin');
  // The same folder for a client that nobody told of HeyAira.
  if (bare) return ground;
  heyairaSays(ground, 'init');
  heyairaSays(ground, 'project', 'create', PROJECT);
  heyairaSays(ground, 'profile', PROJECT, '--write');
  git(ground, 'add', '.');
  git(ground, 'commit', '-q', '-m', 'Pin the project');
  return ground;
}

/** Nothing of whoever runs the tests reaches a client, and no other machine is reachable for it. */
function environment({ home, programs, outside }) {
  const proxy = outside.address;
  return {
    HOME: home,
    PATH: [programs, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(path.delimiter),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    // On a busy machine the database may be late for a hook, which is nobody's failure here.
    HEYAIRA_HOOK_WAIT_MS: '20000',
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  };
}

export function git({ repository, env }, ...args) {
  return execFileSync('git', args, { cwd: repository, env, encoding: 'utf8' }).trim();
}

/** The answer of a command of heyaira, as JSON. */
export function heyairaSays({ repository, env }, ...args) {
  const answer = execFileSync('heyaira', [...args, '--json'], { cwd: repository, env, encoding: 'utf8' });
  return answer === '' ? undefined : JSON.parse(answer);
}

/**
 * One headless run of a client in the repository, against a model of its own.
 * @returns what the process did, the folder of the model's log, and the session's native id
 */
export async function runClient(ground, client, prompt, { seconds = 120 } = {}) {
  ground.runs += 1;
  const log = path.join(ground.work, 'model', `${String(ground.runs).padStart(2, '0')}-${client.name}`);
  const model = await startModel({ log });
  try {
    const { command, input, env } = client.headless(ground, { prompt, address: model.address });
    const ended = await run(command, { cwd: ground.repository, env: { ...ground.env, ...env }, input, seconds });
    fs.writeFileSync(path.join(log, 'stdout'), ended.stdout);
    fs.writeFileSync(path.join(log, 'stderr'), ended.stderr);
    return { ...ended, log };
  } finally {
    await model.close();
  }
}

/** A command of the client itself, such as the one that lists its MCP servers. */
export async function askClient(ground, client, args, { seconds = 60, env = {} } = {}) {
  const command = [...client.program(ground), ...args];
  return run(command, { cwd: ground.repository, env: { ...ground.env, ...client.env, ...env }, seconds });
}

export function writeJson(file, value) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
