// Runs a program of others to its end, or ends it and everything that it started.

import { spawn } from 'node:child_process';

/**
 * @param options cwd, env, input (its standard input), seconds (after which its process group is killed)
 * @returns code, signal, stdout, stderr, seconds; `late` if it was killed for its time
 */
export async function run([program, ...args], { cwd, env, input = '', seconds = 120 }) {
  const began = performance.now();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout = collected(child.stdout);
  const stderr = collected(child.stderr);
  // A program that does not read its input closes it; that is no failure.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child.pid);
  }, seconds * 1000);
  const { code, signal } = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (exit, by) => resolve({ code: exit, signal: by }));
  }).finally(() => clearTimeout(timer));
  // Servers and shells that it left behind keep its pipes open.
  killGroup(child.pid);
  return { code, signal, late, stdout: await stdout, stderr: await stderr, seconds: (performance.now() - began) / 1000 };
}

async function collected(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function killGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
