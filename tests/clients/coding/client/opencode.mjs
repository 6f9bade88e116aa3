// OpenCode, headless, with a provider of models of its own.

import path from 'node:path';
import { writeJson } from '../ground.mjs';

export const openCode = {
  name: 'opencode',
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
  program: ({ installed }) => [path.join(installed, `opencode/node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`)],
  settings: ({ home }) => path.join(home, '.config/opencode/opencode.json'),

  pointAt() {},

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
      env: { ...this.env, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) },
    };
  },

  sessionOf: ({ stdout }) => stdout.match(/"sessionID":"([^"]+)"/)?.[1],

  connectByHand(ground) {
    writeJson(this.settings(ground), { mcp: { heyaira: { type: 'local', command: ['heyaira', 'mcp'] } } });
  },
};
