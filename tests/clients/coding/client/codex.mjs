// Codex, headless, with a provider of models of its own.

import fs from 'node:fs';
import path from 'node:path';

export const codex = {
  name: 'codex',
  command: 'codex',
  version: '0.171.0',
  harness: /^codex 0\./,
  // It loads tools later.
  aim: { tokens: 2500, held: ['user', 'plugin'] },
  env: { CODEX_KEY: 'none' },
  program: ({ installed }) => [process.execPath, path.join(installed, 'codex/node_modules/@openai/codex/bin/codex.js')],

  // The catalogue of its models and plugins; none is needed.
  dials: ['github.com', 'api.github.com', 'chatgpt.com', 'ab.chatgpt.com'],
  load: () => [],
  // The model sees the first line of the instructions, and finds the tools in what it runs.
  shows: (told, tools, tool) => tools.some(({ name }) => name === `mcp__heyaira__${tool}`) || told.includes('- mcp__heyaira: '),

  headless(ground, { prompt, address }) {
    const provider = `{name="model",base_url="${address}/v1",env_key="CODEX_KEY",wire_api="responses"}`;
    const model = ['-c', `model_providers.model=${provider}`, '-c', 'model_provider="model"', '-m', 'gpt-6.2-sol'];
    const options = ['--json', '--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust'];
    return { command: [...this.program(ground), 'exec', ...options, ...model, '-'], input: prompt, env: this.env };
  },

  /** What it writes down when a person trusts a repository. */
  trust({ home, repository }) {
    const file = path.join(home, '.codex/config.toml');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `[projects."${repository}"]\ntrust_level = "trusted"\n`);
  },

  // A person trusts hooks in Codex itself; here a flag does.
  owes: /its hooks are not trusted yet/,

  plugin: (folder) => [
    ['plugin', 'marketplace', 'add', folder],
    ['plugin', 'add', 'heyaira@heyaira'],
  ],

  connected: { args: ['mcp', 'list'], says: /heyaira.*enabled/ },

  sessionOf: ({ stdout }) => stdout.match(/"thread_id":"([^"]+)"/)?.[1],
};
