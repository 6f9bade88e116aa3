// Reads what reached the model.

import fs from 'node:fs';
import path from 'node:path';

/** The requests in their order; turns are those that offer tools. */
export function readLog(folder) {
  const names = fs.readdirSync(folder).filter((name) => /^\d+\.json$/.test(name)).sort();
  return names.map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')));
}

export function turnsOf(requests) {
  return requests.filter(({ tools = [] }) => tools.length > 0);
}

/** All that a request told the model, its tools included, as one text. */
export function toldBy({ conversation, tools }) {
  return [...conversation.map(({ text }) => text), JSON.stringify(tools)].join('\n');
}

/** The results of tools that the last request holds, in the order of the calls. */
export function resultsOf(requests) {
  return turnsOf(requests).at(-1).conversation.filter(({ kind }) => kind === 'result');
}
