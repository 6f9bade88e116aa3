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
 */
export function callOf(step, tools) {
  if (step.kind === 'call') {
    const tool = named(step.tool, tools);
    // A tool that the client did not offer is called all the same: the client has to refuse it, and the log shows it.
    return { ...(tool ? addressOf(tool) : unlisted(step.tool, tools)), arguments: step.arguments };
  }
  const shell = tools.find(({ name }) => Object.hasOwn(SHELLS, name));
  if (!shell) throw new Error(`no shell tool that is known among ${tools.map(({ name }) => name).join(', ')}`);
  return { ...addressOf(shell), arguments: SHELLS[shell.name](step.command) };
}

/** A tool that runs JavaScript knows more tools than it lists. */
function unlisted(name, tools) {
  return tools.some((tool) => tool.type === 'custom' && tool.name === 'exec') ? { name, type: 'nested' } : { name };
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
