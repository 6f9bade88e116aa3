// Claude Code, headless, with a key that is none.

import path from 'node:path';

export const claudeCode = {
  name: 'claude-code',
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },

  // The package's own command is put in place by a script of the package, and scripts are not run here.
  program: ({ installed }) => [
    path.join(installed, 'claude-code/node_modules/@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude'),
  ],

  pointAt() {},

  headless(ground, { prompt, address }) {
    const options = ['--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__heyaira,mcp__plugin_heyaira_heyaira,Bash,Skill'];
    return {
      command: [...this.program(ground), '-p', ...options],
      input: prompt,
      env: { ...this.env, ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: 'none' },
    };
  },

  sessionOf: ({ stdout }) => stdout.match(/"session_id":"([^"]+)"/)?.[1],
};
