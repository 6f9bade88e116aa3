// What clients are provoked to in a run, and what the run's report says then: one table for each kind, a row a case. A client
// that a row does not name cannot be provoked in that way.

import path from 'node:path';

const call = (tool, given = {}) => `call ${tool} ${JSON.stringify(given)}`;
/** Where no run may write, though its user may. */
export const OUTSIDE = '/var/tmp/heyaira-run-outside.txt';
const PUSH = 'shell git push origin main';
const PATCH = `*** Begin Patch\n*** Add File: ${OUTSIDE}\n+x\n*** End Patch\n`;

/** Nothing is told of it: how it was refused stands in the session alone. */
const UNSEEN = [];
const once = (tool) => [{ tool, times: 1 }];

/**
 * Calls that the client refuses. Each run ends with exit code 0 and without any work.
 * Columns: what is refused, the client, what the model does, what the report has as refused; files and words of its user.
 */
export const REFUSALS = [
  ['a tool that is not there', 'claude-code', call('no_such_tool'), once('no_such_tool')],
  ['a tool that is not there', 'gemini', call('no_such_tool'), once('no_such_tool')],
  ['a tool that is not there', 'opencode', call('no_such_tool'), once('no_such_tool')],
  ['a tool that is not there', 'copilot', call('no_such_tool'), once('no_such_tool')],
  // Its model calls tools from JavaScript, where one that is not there is an error of the script.
  ['a tool that is not there', 'codex', call('no_such_tool'), UNSEEN],
  // Another model calls them itself.
  ['a tool that is not there', 'codex', call('no_such_tool'), once('no_such_tool'), { words: ['-c', 'model="another"'] }],

  ['a server that is off', 'claude-code', call('mcp__heyaira__task_get'), once('mcp__heyaira__task_get')],
  ['a server that is off', 'gemini', call('mcp_heyaira_task_get'), once('mcp_heyaira_task_get')],
  ['a server that is off', 'opencode', call('heyaira_task_get'), once('heyaira_task_get')],
  ['a server that is off', 'copilot', call('heyaira-task_get'), once('heyaira-task_get')],
  ['a server that is off', 'codex', call('mcp__heyaira__task_get'), UNSEEN],

  ['a question', 'claude-code', call('AskUserQuestion'), once('AskUserQuestion')],
  ['a question', 'gemini', call('ask_user'), once('ask_user')],
  ['a question', 'opencode', call('question'), once('question')],
  ['a question', 'copilot', call('ask_user'), once('ask_user')],
  ['a question', 'codex', call('request_user_input'), UNSEEN],

  // OpenCode and Copilot write wherever their user may.
  ['a file outside', 'claude-code', call('Write', { file_path: OUTSIDE, content: 'x' }), once('Write')],
  ['a file outside', 'gemini', call('write_file', { file_path: OUTSIDE, content: 'x' }), once('write_file')],
  ['a file outside', 'codex', script(`await tools.apply_patch(${JSON.stringify(PATCH)})`), once('apply_patch')],
  // The command is run, and the sandbox lets it fail: that is no refusal.
  ['a command outside', 'codex', `shell touch ${OUTSIDE}`, UNSEEN],
  ['to leave the sandbox', 'codex', script("await tools.exec_command({cmd: 'id', sandbox_permissions: 'require_escalated'})"), once('exec_command')],

  ['what its user forbids', 'claude-code', PUSH, once('Bash'), { files: rulesOfClaudeCode }],
  ['what its user forbids', 'gemini', PUSH, once('run_shell_command'), { files: rulesOfGemini }],
  ['what its user forbids', 'opencode', PUSH, once('bash'), { files: rulesOfOpenCode }],
  ['what its user forbids', 'copilot', PUSH, once('bash'), { words: ['--deny-tool=shell(git push)'] }],
  ['what its user forbids', 'codex', PUSH, once('exec_command'), { files: rulesOfCodex }],
].map(([what, client, step, denied, { files, words } = {}]) => ({ what, client, step, denied, files, words }));

function script(code) {
  return call('exec', { input: `text(JSON.stringify(${code}))` });
}

// In its user's own settings, which have nothing else in them then.

function rulesOfClaudeCode({ home }) {
  return { [path.join(home, '.claude/settings.json')]: '{"permissions": {"deny": ["Bash(git push:*)"]}}' };
}

function rulesOfGemini({ home }) {
  const rule = ['[[rule]]', 'toolName = "run_shell_command"', 'commandPrefix = "git push"', 'decision = "deny"', 'priority = 900'];
  return { [path.join(home, '.gemini/policies/push.toml')]: rule.join('\n') };
}

function rulesOfOpenCode({ home }) {
  return { [path.join(home, '.config/opencode/opencode.jsonc')]: '{"permission": {"bash": {"git push*": "deny"}}}' };
}

function rulesOfCodex({ home }) {
  return { [path.join(home, '.codex/rules/default.rules')]: 'prefix_rule(pattern=["git", "push"], decision="forbidden")' };
}

/** A client that tries again for minutes is told by its user to try less. OpenCode and Copilot cannot be told. */
export const IMPATIENT = {
  codex: { provider: { request_max_retries: 0, stream_max_retries: 0 } },
  'claude-code': { env: { CLAUDE_CODE_MAX_RETRIES: '1' } },
  gemini: { settings: { general: { maxAttempts: 1 } } },
};

const failed = (code, says, more = {}) => ({ outcome: 'harness_error', code, says, ...more });
/** Which words it has for it is a matter of milliseconds. */
const BROKEN = /connection|socket|reset|EOF|terminated|disconnected/i;
/** It asks again and again, each time without an answer, and is ended by a bound of the run. */
const loops = { outcome: 'timed_out', says: /ended/, timeout: '45s' };

/**
 * Models that fail, from the first request on, or after one step that was done.
 * Columns: what the model does, and for each client its exit code and what it says of it. Each is a `harness_error` but one.
 */
const CLIENTS = ['codex', 'claude-code', 'gemini', 'opencode', 'copilot'];
export const FAILURES = [
  //                  codex                          claude-code                 gemini                          opencode                     copilot
  ['400',             failed(1, /scripted/),         failed(1, /400 scripted/),  failed(144, /code":400/),       failed(1, /scripted/),       failed(1, /400 scripted/)],
  ['401',             failed(1, /401 Unauthorized/), failed(1, /401 scripted/),  failed(145, /code":401/),       failed(1, /scripted/),       failed(1, /HTTP 401/)],
  ['429',             failed(1, /429 Too Many/),     failed(1, /429/),           failed(173, /quota/),            failed(1, /scripted/),       failed(1, /429 scripted/)],
  ['500',             failed(1, /high demand/),      failed(1, /500 scripted/),  failed(244, /code":500/),       failed(1, /scripted/),       failed(1, /500 scripted/)],
  ['closed',          failed(1, BROKEN),             failed(1, BROKEN),          failed(1, /API Error/),         failed(1, BROKEN),           failed(1, BROKEN)],
  ['half',            failed(1, BROKEN),             failed(1, BROKEN),          failed(1, BROKEN),              failed(1, BROKEN),           failed(1, BROKEN)],
  ['garbage',         failed(1, /stream closed/),    failed(1, /malformed/),     failed(1, /Incomplete JSON/),   loops,                       failed(1, /without sending/)],
  ['away',            failed(1, /error sending|onnect|network/i), failed(1, /ECONNREFUSED|refused/i), failed(1, /API Error/), failed(1, /Unable to conn/), failed(1, /Could not connect/)],
  ['400 after a step', failed(1, /scripted/),        failed(1, /400 scripted/),  failed(144, /code":400/),       failed(1, /scripted/),       failed(1, /400 scripted/)],
].flatMap(([what, ...told]) => told.map((expected, column) => ({ what, client: CLIENTS[column], ...expected })));

/** How a client of a row is made impatient, and its model made to fail. */
export function failing({ what, client }) {
  const [how, ...after] = what.split(' ');
  const model = how === 'away' ? { isAway: true } : { failing: how, after: after.length > 0 ? 1 : 0 };
  return { model, ...IMPATIENT[client] };
}

const UNKNOWN = '0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31';
const MUCH = 'usage {"input_tokens":400000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}';
const turns = ['write a.txt x', 'shell echo b', 'shell echo c', 'say Done.'];

/**
 * Ends of their own that are none of a finished task.
 * Columns: which, the client, the outcome, its exit code, what the reason says; what is different in the run.
 */
export const ENDS = [
  ['its own budget', 'claude-code', 'over_budget', 1, /Reached maximum budget/, { steps: [MUCH, 'shell echo a', MUCH, ...turns], words: ['--max-budget-usd=0.5'] }],
  ['its own bound of turns', 'claude-code', 'failed', 1, /Reached maximum number of turns/, { steps: turns, words: ['--max-turns=2'] }],
  ['its own bound of turns', 'gemini', 'failed', 53, /Reached max session turns/, { steps: turns, settings: { model: { maxSessionTurns: 1 } } }],
  ['settings that are none', 'gemini', 'harness_error', 52, /settings\.json/, { settings: '{"security": {' }],
  ['no session of that id', 'codex', 'harness_error', 1, /no rollout found/, { asked: ['--resume', UNKNOWN] }],
  ['no session of that id', 'claude-code', 'harness_error', 1, /No conversation found/, { asked: ['--resume', UNKNOWN] }],
  ['no session of that id', 'gemini', 'harness_error', 42, /resuming session/, { asked: ['--resume', UNKNOWN] }],
  ['no session of that id', 'opencode', 'harness_error', 1, /Session not found/, { asked: ['--resume', UNKNOWN] }],
  ['no session of that id', 'copilot', 'harness_error', 1, /No session/, { asked: ['--resume', UNKNOWN] }],
  ['no login', 'claude-code', 'harness_error', 1, /Not logged in/, { env: { ANTHROPIC_API_KEY: '' } }],
  ['an option that it has not', 'codex', 'harness_error', 2, /no-such-option/, { words: ['--no-such-option'] }],
  ['an option that it has not', 'claude-code', 'harness_error', 1, /no-such-option/, { words: ['--no-such-option'] }],
  ['an option that it has not', 'copilot', 'harness_error', 1, /no-such-option/, { words: ['--no-such-option'] }],
].map(([what, client, outcome, code, says, given]) => ({ what, client, outcome, code, says, ...given }));
