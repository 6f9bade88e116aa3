// Codex, headless, with a provider of models of its own.

import fs from 'node:fs';
import path from 'node:path';

export const codex = {
  name: 'codex',
  env: { CODEX_KEY: 'none' },
  program: ({ installed }) => [process.execPath, path.join(installed, 'codex/node_modules/@openai/codex/bin/codex.js')],
  settings: ({ home }) => path.join(home, '.codex/config.toml'),

  pointAt() {},

  headless(ground, { prompt, address }) {
    const provider = `{name="model",base_url="${address}/v1",env_key="CODEX_KEY",wire_api="responses"}`;
    const model = ['-c', `model_providers.model=${provider}`, '-c', 'model_provider="model"', '-m', 'gpt-6.2-sol'];
    const options = ['--json', '--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust'];
    return { command: [...this.program(ground), 'exec', ...options, ...model, '-'], input: prompt, env: this.env };
  },

  sessionOf: ({ stdout }) => stdout.match(/"thread_id":"([^"]+)"/)?.[1],

  connectByHand(ground) {
    fs.mkdirSync(path.dirname(this.settings(ground)), { recursive: true });
    fs.writeFileSync(this.settings(ground), '[mcp_servers.heyaira]\ncommand = "heyaira"\nargs = ["mcp"]\nomit_tools_from = ["deferred"]\n');
  },
};
