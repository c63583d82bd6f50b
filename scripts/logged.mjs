// Runs the commands of a setup and logs their output, so that a person reads one line for each install and its reason, and one if it failed.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';

/** Creates the empty log of one setup; `say` prints a line. */
export function openLog(file, say) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '');
  /** Runs a command. Returns null if it succeeded, else why it failed, in one line that names the log. */
  return function run(why, command, args, options = {}) {
    say(why);
    const { stdout, stderr, status, error } = spawnSync(command, args, {
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
      ...options,
    });
    const output = stripVTControlCharacters(`${stdout ?? ''}${stderr ?? ''}`);
    appendFileSync(file, `$ ${command} ${args.join(' ')}\n${output}\n`);
    if (status === 0) return null;
    return `${command} ${args[0] ?? ''}: ${error?.message ?? reasonIn(output, status)}; its output is in ${file}`;
  };
}

/** Returns the line of an output that says what went wrong, without the stack and the code around it. */
function reasonIn(output, status) {
  const lines = output.split('\n').map((line) => line.trim());
  const telling =
    lines.find((line) => /^(?:npm error|npm ERR!) (?!code)\S|^E: /.test(line)) ??
    lines.find((line) => /^(?:\w*Error\b|Failed\b|error\b)/.test(line)) ??
    lines.findLast((line) => line !== '' && !line.startsWith('at '));
  return (telling ?? `it ended with code ${status}`).slice(0, 200);
}
