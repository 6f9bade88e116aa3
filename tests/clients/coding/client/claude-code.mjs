// Claude Code, headless, with a key that is none.

import path from 'node:path';
import { writeJson } from '../ground.mjs';

export const claudeCode = {
  name: 'claude-code',
  command: 'claude',
  version: '2.1.332',
  harness: /^claude-code 2\./,
  aim: { tokens: 2500, held: ['user', 'plugin'] },
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },

  // The package's own command is put in place by a script of the package, and scripts are not run here.
  program: ({ installed }) => [
    path.join(installed, 'claude-code/node_modules/@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude'),
  ],

  dials: [],
  // Three tools are always there; of the others the model sees the names until it asks for more.
  load: (tools) => [`model> call ToolSearch {"query":"select:${tools.map((tool) => `{{/mcp__\\\\w+__${tool}/}}`).join(',')}"}`],
  shows: (told, tools, tool) => told.includes(`mcp__heyaira__${tool}`) || told.includes(`mcp__plugin_heyaira_heyaira__${tool}`),

  headless(ground, { prompt, address }) {
    const options = ['--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__heyaira,mcp__plugin_heyaira_heyaira,Bash,Skill'];
    return {
      command: [...this.program(ground), '-p', ...options],
      input: prompt,
      env: { ...this.env, ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: 'none' },
    };
  },

  /** What it writes down when a person agrees to the servers of a repository. */
  trust({ home, repository }) {
    const agreed = { hasTrustDialogAccepted: true, enabledMcpjsonServers: ['heyaira'] };
    writeJson(path.join(home, '.claude.json'), { projects: { [repository]: agreed } });
  },

  plugin: (folder) => [
    ['plugin', 'validate', '--strict', folder],
    ['plugin', 'validate', '--strict', path.join(folder, 'heyaira')],
    ['plugin', 'marketplace', 'add', folder],
    ['plugin', 'install', 'heyaira@heyaira'],
  ],

  connected: { asks: true, args: ['mcp', 'list'], says: /heyaira.*Connected/ },

  sessionOf: ({ stdout }) => stdout.match(/"session_id":"([^"]+)"/)?.[1],
};
