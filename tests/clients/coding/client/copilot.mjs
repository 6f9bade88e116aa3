// GitHub Copilot CLI, headless, with a provider of models of its own and without GitHub.

import path from 'node:path';
import { writeJson } from '../ground.mjs';

export const copilot = {
  name: 'copilot',
  env: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
  program: ({ installed }) => [process.execPath, path.join(installed, 'copilot/node_modules/@github/copilot/npm-loader.js')],
  settings: ({ home }) => path.join(home, '.copilot/mcp-config.json'),

  pointAt() {},

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

  sessionOf: ({ stdout }) => stdout.match(/"sessionId":"([^"]+)"/)?.[1],

  connectByHand(ground) {
    const server = { type: 'local', command: 'heyaira', args: ['mcp'], tools: ['*'] };
    writeJson(this.settings(ground), { mcpServers: { heyaira: server } });
  },
};
