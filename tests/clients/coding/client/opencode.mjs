// OpenCode, headless, with a provider of models of its own.

import fs from 'node:fs';
import path from 'node:path';

export const openCode = {
  name: 'opencode',
  command: 'opencode',
  version: '1.18.33',
  harness: /^opencode 1\./,
  aim: { tokens: 4000, held: ['user', 'plugin'] },
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    // Beside a plugin it installs a package of its own, and without a registry it tries again for minutes.
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_fetch_retries: '0',
  },
  program: ({ installed }) => [path.join(installed, `opencode/node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`)],
  settings: ({ home }) => path.join(home, '.config/opencode/opencode.json'),

  dials: [],
  load: () => [],
  shows: (told, tools, tool) => tools.some(({ name }) => name === `heyaira_${tool}`),

  headless(ground, { prompt, address }) {
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'model',
      options: { baseURL: `${address}/v1`, apiKey: 'none' },
      models: { scripted: { name: 'scripted', tool_call: true, limit: { context: 200000, output: 8000 } } },
    };
    const settings = { provider: { model: provider }, model: 'model/scripted', small_model: 'model/scripted', permission: { '*': 'allow' } };
    return {
      // A prompt that is an argument reaches the model in quotes.
      command: [...this.program(ground), 'run', '--format', 'json'],
      input: prompt,
      aim: { tokens: 4000, held: ['user', 'plugin'] },
  env: { ...this.env, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) },
    };
  },

  sessionOf: ({ stdout }) => stdout.match(/"sessionID":"([^"]+)"/)?.[1],

  /** Its plugin is one file, and brings no server and no skills. */
  pluginFiles(ground, folder) {
    const home = path.dirname(this.settings(ground));
    fs.mkdirSync(path.join(home, 'plugin'), { recursive: true });
    fs.copyFileSync(path.join(folder, 'opencode/heyaira.js'), path.join(home, 'plugin/heyaira.js'));
    fs.cpSync(path.join(folder, 'heyaira/skills'), path.join(home, 'skills'), { recursive: true });
  },

  plugin: () => [['mcp', 'add', 'heyaira', '--', 'heyaira', 'mcp']],

  connected: { asks: true, args: ['mcp', 'list'], says: /heyaira[^]*connected/ },
};
