// Gemini CLI, headless, with a key that is none.

import path from 'node:path';
import { writeJson } from '../ground.mjs';

export const gemini = {
  name: 'gemini',
  command: 'gemini',
  version: '0.61.0',
  harness: /^gemini 0\./,
  aim: { tokens: 4000, held: [] },
  env: { GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false' },
  program: ({ installed }) => [process.execPath, path.join(installed, 'gemini/node_modules/@google/gemini-cli/bundle/gemini.js')],
  settings: ({ home }) => path.join(home, '.gemini/settings.json'),

  dials: ['play.googleapis.com'],
  load: () => [],
  shows: (told, tools, tool) => tools.some(({ name }) => name === `mcp_heyaira_${tool}`),

  headless(ground, { prompt, address }) {
    return {
      command: [...this.program(ground), '-p', prompt, '-o', 'json', '-y', '-m', 'gemini-3.8-flash'],
      input: '',
      env: { ...this.env, GOOGLE_GEMINI_BASE_URL: address },
    };
  },

  plugin: (folder) => [
    ['extensions', 'validate', path.join(folder, 'gemini')],
    ['extensions', 'link', path.join(folder, 'gemini'), '--consent'],
  ],

  connected: { args: ['mcp', 'list'], asks: true, says: /heyaira.*Connected/ },

  sessionOf: ({ stdout }) => stdout.match(/"session_id": ?"([^"]+)"/)?.[1],

  /** What a person has chosen before HeyAira comes. */
  prepare(ground) {
    writeJson(this.settings(ground), { security: { auth: { selectedType: 'gemini-api-key' } } });
    writeJson(path.join(ground.home, '.gemini/trustedFolders.json'), { [ground.repository]: 'TRUST_FOLDER' });
  },
};
