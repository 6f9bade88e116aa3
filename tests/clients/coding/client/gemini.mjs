// Gemini CLI, headless, with a key that is none.

import path from 'node:path';
import { writeJson } from '../ground.mjs';

export const gemini = {
  name: 'gemini',
  env: { GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false' },
  program: ({ installed }) => [process.execPath, path.join(installed, 'gemini/node_modules/@google/gemini-cli/bundle/gemini.js')],
  settings: ({ home }) => path.join(home, '.gemini/settings.json'),

  pointAt() {},

  headless(ground, { prompt, address }) {
    return {
      command: [...this.program(ground), '-p', prompt, '-o', 'json', '-y', '-m', 'gemini-3.8-flash'],
      input: '',
      env: { ...this.env, GOOGLE_GEMINI_BASE_URL: address },
    };
  },

  sessionOf: ({ stdout }) => stdout.match(/"session_id": ?"([^"]+)"/)?.[1],

  connectByHand(ground) {
    writeJson(this.settings(ground), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { heyaira: { command: 'heyaira', args: ['mcp'] } },
    });
  },
};
