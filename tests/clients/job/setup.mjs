// What run.sh says to a driver by environment variables.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RECORDER = fileURLToPath(new URL('record.py', import.meta.url));

export const DATABASE = process.env.HEYAIRA_DATABASE;
export const PROFILE = JSON.parse(readFileSync(process.env.CLIENTS_PROFILE, 'utf8'));

export const OVER_HTTP = process.env.CLIENTS_TRANSPORT === 'http';

export function recordOf(client, session) {
  return join(process.env.CLIENTS_RECORDS, `${nameOf(client, session)}.jsonl`);
}

function nameOf(client, session) {
  return `${client}-${process.env.CLIENTS_TRANSPORT}-${session}`;
}

/** The server's address, by way of the recorder. */
export function serverAddress(client, session) {
  return `${process.env.CLIENTS_RECORDER}/${nameOf(client, session)}/mcp/ledger`;
}

export function credential() {
  return `Bearer ${process.env.CLIENTS_TOKEN}`;
}

/** The server's command line, with the recorder before it. */
export function serverCommand(record) {
  const server = [process.env.CLIENTS_SERVER, 'mcp', '--project', 'ledger'];
  return [process.env.CLIENTS_PYTHON, RECORDER, record, ...server];
}
