// node main.mjs LOG_FOLDER [PORT]: a scripted model until it is ended; its address is the first line.

import { startModel } from './server.mjs';

const [log, port = '0'] = process.argv.slice(2);
if (!log) {
  console.error('usage: node main.mjs LOG_FOLDER [PORT]');
  process.exit(2);
}
const { address } = await startModel({ log, port: Number(port) });
console.log(address);
