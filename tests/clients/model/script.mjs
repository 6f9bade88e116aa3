// What the "model" does, as lines of the user's message say it. It never thinks: a line is a step, and one request takes
// one step. A line that is a JSON object, such as a task in a brief, is read too: the lines in its strings are steps as well.
//
//   model> call NAME [as LABEL] {arguments}   call the tool whose name is, or ends with, NAME
//   model> shell COMMAND                      call the client's own shell tool
//   model> write PATH TEXT                    call the client's shell tool to write TEXT (with \n for a line end) there
//   model> say TEXT                           answer with a text; that ends the turn
//   model> error STATUS                       answer once with that HTTP status
//   model> wait SECONDS                       let the next step wait that long
//   model> usage {counts}                     what the next step reports as used tokens
//
// Strings in arguments, commands and texts may hold {{LABEL.path.to.value}}, from an earlier result that is JSON, and
// {{/REGEX/}}, the first group (or all) of the last match in everything that reached the model but the script itself.

const LINE = /^[ \t>*-]*?model> +(\S+)(?: +(.*))?$/gm;
const REFERENCE = /\{\{(\/.+?\/|[A-Za-z_][\w.-]*)\}\}/g;

/** The script in a text, as steps; none if the text has no line of it. */
export function parseScript(text) {
  const steps = [];
  let pending = {};
  for (const [line, verb, rest = ''] of unfolded(text).matchAll(LINE)) {
    const step = parseStep(verb, rest.trim(), line);
    if (step.modifier) {
      pending = { ...pending, ...step.modifier };
      continue;
    }
    steps.push({ ...step, ...pending });
    pending = {};
  }
  return steps;
}

/** The text with each line that is a JSON object replaced by the strings in it, one below the other. */
function unfolded(text) {
  return text.replace(/^\{.*model> .*\}$/gm, (line) => {
    try {
      return stringsIn(JSON.parse(line)).join('\n');
    } catch {
      return line;
    }
  });
}

function stringsIn(value) {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(stringsIn) : [];
}

/** The text without the lines of a script, so that a search in it does not find the script. */
export function withoutScript(text) {
  return text.replace(LINE, '');
}

function parseStep(verb, rest, line) {
  switch (verb) {
    case 'call': {
      const [, tool, label, json = '{}'] = rest.match(/^(\S+)(?: +as +(\w+))?(?: +(\{.*\}))?$/) ?? broken(line);
      return { kind: 'call', tool, label, arguments: parseJson(json, line) };
    }
    case 'shell':
      return { kind: 'shell', command: rest };
    case 'write': {
      const [, path, text] = rest.match(/^(\S+) +(.*)$/) ?? broken(line);
      return { kind: 'shell', command: `printf '%b' ${quoted(text)} > ${quoted(path)}` };
    }
    case 'say':
      return { kind: 'say', text: rest };
    case 'error':
      return { kind: 'error', status: Number(rest) || broken(line) };
    case 'wait':
      return { modifier: { wait: Number(rest) || broken(line) } };
    case 'usage':
      return { modifier: { usage: parseJson(rest, line) } };
    default:
      return broken(line);
  }
}

function parseJson(json, line) {
  try {
    return JSON.parse(json);
  } catch {
    return broken(line);
  }
}

function broken(line) {
  throw new Error(`this is no step of a script: ${line}`);
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The step that is due: that of the last user's message with a script, after as many calls as were made since.
 * @param conversation items `{kind: 'system' | 'user' | 'assistant' | 'call' | 'result', text}`, in their order
 * @param spent steps that leave no trace in a conversation and were taken, as `spent.has(key)`
 */
export function stepDue(conversation, spent = new Set()) {
  const start = conversation.findLastIndex(({ kind, text }) => kind === 'user' && parseScript(text).length > 0);
  if (start < 0) return undefined;
  const steps = parseScript(conversation[start].text);
  const since = conversation.slice(start + 1);
  let made = since.filter(({ kind }) => kind === 'call').length;
  for (const [index, step] of steps.entries()) {
    const key = `${start} ${index} ${conversation[start].text}`;
    if (step.kind === 'error') {
      if (spent.has(key)) continue;
      return { ...step, key };
    }
    if (made === 0) return filledIn(step, { conversation, steps, since });
    made -= 1;
  }
  return undefined;
}

function filledIn(step, seen) {
  const fill = (value) => filled(value, seen);
  if (step.kind === 'call') return { ...step, arguments: fill(step.arguments) };
  if (step.kind === 'shell') return { ...step, command: fill(step.command) };
  return { ...step, text: fill(step.text) };
}

function filled(value, seen) {
  if (Array.isArray(value)) return value.map((one) => filled(one, seen));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, seen)]));
  }
  if (typeof value !== 'string') return value;
  // A string that is nothing but one reference keeps the type of what it refers to.
  const whole = value.match(new RegExp(`^${REFERENCE.source}$`));
  if (whole) return looked(whole[1], seen);
  return value.replace(REFERENCE, (_, reference) => String(looked(reference, seen)));
}

function looked(reference, seen) {
  return reference.startsWith('/') ? matched(reference.slice(1, -1), seen) : labelled(reference, seen);
}

function matched(pattern, { conversation }) {
  const text = conversation.map((item) => (item.kind === 'user' ? withoutScript(item.text) : item.text)).join('\n');
  const found = [...text.matchAll(new RegExp(pattern, 'gm'))].at(-1);
  if (!found) throw new Error(`nothing that reached the model matches /${pattern}/`);
  return found[1] ?? found[0];
}

function labelled(reference, { steps, since }) {
  const [label, ...path] = reference.split('.');
  const visible = steps.filter(({ kind }) => kind !== 'error');
  const index = visible.findIndex((step) => step.label === label);
  if (index < 0) throw new Error(`no call of this script is labelled ${label}`);
  const result = since.filter(({ kind }) => kind === 'result')[index];
  if (!result) throw new Error(`${label} has no result yet`);
  if (path.length === 0) return result.text;
  const value = path.reduce((from, key) => from?.[key], jsonIn(result.text, label));
  if (value === undefined) throw new Error(`${label} has no ${path.join('.')}: ${result.text}`);
  return value;
}

/** Clients put words of theirs around a result, so the JSON may stand inside of a text. */
function jsonIn(text, label) {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  try {
    return JSON.parse(text.slice(from, to + 1));
  } catch {
    throw new Error(`${label} is not JSON: ${text}`);
  }
}
