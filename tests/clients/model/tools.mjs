// Finds, among the tools that a client offers, the one that a step means.

const SHELLS = {
  Bash: (command) => ({ command, description: 'A step of the script' }),
  bash: (command) => ({ command, description: 'A step of the script' }),
  run_shell_command: (command) => ({ command, description: 'A step of the script' }),
  exec_command: (command) => ({ cmd: command }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: ['bash', '-lc', command] }),
  local_shell: (command) => ({ command: ['bash', '-lc', command] }),
};

/**
 * The call that a step asks for, with the tool's real name.
 * @param tools what the request offers, `{name, namespace?, type?}`
 * @param conversation where tools may be named that are not offered yet
 */
export function callOf(step, { tools, conversation }) {
  if (step.kind === 'call') {
    const tool = named(step.tool, tools);
    return { ...(tool ? addressOf(tool) : unlisted(step.tool, tools, conversation)), arguments: step.arguments };
  }
  const shell = tools.find(({ name }) => Object.hasOwn(SHELLS, name));
  if (!shell) throw new Error(`no shell tool that is known among ${tools.map(({ name }) => name).join(', ')}`);
  return { ...addressOf(shell), arguments: SHELLS[shell.name](step.command) };
}

/** The address of a tool whose schema the client keeps back. */
function unlisted(name, tools, conversation) {
  // A tool that runs JavaScript can look for it there.
  if (tools.some((tool) => tool.type === 'custom' && tool.name === 'exec')) return { name, type: 'searched' };
  const full = new RegExp(`\\bmcp__\\w+__${name}\\b`, 'g');
  const mentions = conversation.filter(({ kind }) => kind !== 'assistant').flatMap(({ text }) => text.match(full) ?? []);
  // A tool that nothing names is called all the same: the client has to refuse it, and the log shows it.
  return { name: mentions.at(-1) ?? name };
}

function addressOf({ name, namespace, type }) {
  return { name, ...(namespace && { namespace }), ...(type && { type }) };
}

function named(wanted, tools) {
  return (
    tools.find(({ name }) => name === wanted) ??
    tools.find(({ name }) => name.endsWith(wanted) && /[^A-Za-z0-9]$/.test(name.slice(0, -wanted.length)))
  );
}
