// GitHub Copilot CLI, headless, with a provider of models of its own and without GitHub.

import path from 'node:path';
import { writeJson } from '../ground.mjs';

export const copilot = {
  name: 'copilot',
  command: 'copilot',
  version: '1.0.102',
  harness: /^copilot 1\./,
  aim: { tokens: 4000, held: ['user', 'plugin'] },
  env: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
  program: ({ installed }) => [process.execPath, path.join(installed, 'copilot/node_modules/@github/copilot/npm-loader.js')],

  dials: [],
  // It shows instructions of few servers to the model, and not ours.
  hidesInstructions: true,
  load: () => [],
  shows: (told, tools, tool) => tools.some(({ name }) => name === `heyaira-${tool}`),

  headless(ground, { prompt, address }) {
    return {
      command: [...this.program(ground), '-p', prompt, '--output-format', 'json', '--allow-all-tools'],
      input: '',
      env: {
        ...this.env,
        COPILOT_PROVIDER_BASE_URL: `${address}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_API_KEY: 'none',
        COPILOT_MODEL: 'gpt-6.2-sol',
      },
    };
  },

  /** What it writes down when a person trusts a folder. */
  trust({ home, repository }) {
    writeJson(path.join(home, '.copilot/config.json'), { trustedFolders: [repository] });
  },

  plugin: (folder) => [
    ['plugin', 'marketplace', 'add', folder],
    ['plugin', 'install', 'heyaira@heyaira'],
  ],

  connected: { args: ['mcp', 'list'], says: /heyaira/ },

  sessionOf: ({ stdout }) => stdout.match(/"sessionId":"([^"]+)"/)?.[1],
};
