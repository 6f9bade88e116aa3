// One unattended run of a coding client, as `heyaira run start` does it, with the scripted model.

import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { startModel } from '../model/server.mjs';
import { claudeCode } from './client/claude-code.mjs';
import { codex } from './client/codex.mjs';
import { copilot } from './client/copilot.mjs';
import { gemini } from './client/gemini.mjs';
import { openCode } from './client/opencode.mjs';
import { makeGround } from './ground.mjs';
import { run } from './process.mjs';
import { setUp, shim } from './setup.mjs';

/** The clients, with the model that a run asks for, and where its cost is from. */
export const RUNNERS = [
  { client: codex, model: 'gpt-6.2-sol', basis: 'prices', words: providerOfCodex },
  { client: claudeCode, model: 'claude-sonnet-5-5', basis: 'prices' },
  { client: gemini, model: 'gemini-3.8-flash', basis: 'prices' },
  // Nobody knows a price of its model, and an unknown price is not 0.
  { client: openCode, model: 'model/scripted', basis: 'unknown' },
  { client: copilot, model: 'gpt-6.2-sol', basis: 'prices' },
];

function providerOfCodex(address, more = {}) {
  const fields = Object.entries({ name: 'model', base_url: `${address}/v1`, env_key: 'CODEX_KEY', wire_api: 'responses', ...more });
  const provider = `{${fields.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}}`;
  return ['-c', `model_providers.model=${provider}`, '-c', 'model_provider="model"'];
}

/** A home and a repository for the client, which is set up for HeyAira: a run has something to leave out. */
export async function makeRunGround({ client }, { work, heyaira, installed }) {
  const ground = await makeGround({ work: path.join(work, client.name), heyaira, installed });
  client.prepare?.(ground);
  setUp(ground, client, 'user');
  shim(ground, client);
  return ground;
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

/**
 * One run of the client.
 * @param asked flags of `run start`, beside those that every run here has
 * @param extra words for the client, after the --
 * @param model what `startModel` takes; `isAway` where nothing is at its address
 * @param env what its user has in the environment
 * @param provider what its user says of the model's provider, where that is given to the client
 * @returns the report, the model's log, the exit code, and what was printed
 */
export async function startRun(ground, runner, { asked = [], extra = [], model = {}, env = {}, provider, seconds = 240 }) {
  const { client, words } = runner;
  ground.runs += 1;
  const log = path.join(ground.work, 'model', String(ground.runs).padStart(2, '0'));
  const scripted = model.isAway ? await nobody(log) : await startModel({ log, ...model });
  try {
    const theirs = [...(words?.(scripted.address, provider) ?? []), ...extra];
    const flags = ['--harness', client.name, '--model', runner.model, '--json', '--max', '16', ...asked];
    const command = ['heyaira', 'run', 'start', ...flags, ...(theirs.length > 0 ? ['--', ...theirs] : [])];
    const environment = { ...ground.env, TMPDIR: temporary(ground), ...environmentOf(ground, client, scripted.address), ...env };
    const ended = await run(command, { cwd: ground.repository, env: environment, seconds });
    const said = `${client.name}: ${ended.stdout.slice(-3_000)}\n${ended.stderr.slice(-2_000)}`;
    if (ended.late || ended.stdout === '') throw new Error(`it did not report: ${said}`);
    const report = JSON.parse(ended.stdout);
    if (report.error) throw new Error(`it was refused: ${said}`);
    return { ...ended, log, said, report };
  } finally {
    await scripted.close();
  }
}

/** Where clients leave reports on what failed, which go away with the rest. */
function temporary({ work }) {
  const folder = path.join(work, 'tmp');
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** An address at which nobody listens. */
async function nobody(log) {
  fs.mkdirSync(log, { recursive: true });
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return { address: `http://127.0.0.1:${port}`, close: async () => {} };
}
