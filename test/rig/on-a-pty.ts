import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { TerminalScreen } from './terminal-screen.js';

/** Whether pseudo-terminals can be created here. Node has none, so python3's own module is used. */
export const canCreatePty =
  process.platform !== 'win32' && spawnSync('python3', ['-c', 'import pty, termios']).status === 0;

/** The bytes of the keys that a person presses. */
export const keys = {
  down: '\u001B[B',
  enter: '\r',
  escape: '\u001B',
  ctrlC: '\u0003',
  backspace: '\u007F',
} as const;

/** A program on a pseudo-terminal. */
export interface PtyProgram {
  /** Returns its output so far, with the byte 0x1e at each resize of the window. */
  output(): string;
  /** Returns the output without colors and cursor movements. */
  text(): string;
  type(...texts: readonly string[]): void;
  resize(columns: number, rows: number): void;
  /** Waits until its output since the window was last resized matches. */
  seen(what: RegExp): Promise<void>;
  /** Waits until its output since the last typed text contains this text, without colors and cursor movements. */
  shows(text: string): Promise<void>;
  /** Resolves with its exit code; 128 and more for a signal. */
  ended(): Promise<number>;
  /** Returns the current screen of the terminal. */
  screen(): TerminalScreen;
}

/** Starts a program on a terminal of 24 rows; `env` is its whole environment, except for PATH. */
export function startOnPty(
  command: readonly string[],
  env: Record<string, string> = {},
  { cwd = process.cwd(), columns = 80 } = {},
): PtyProgram {
  const sizes = [{ columns, rows: 24 }];
  const relay = path.join(import.meta.dirname, 'on-a-pty.py');
  const child = execa('python3', [relay, String(columns), '24', ...command], {
    cwd,
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
    extendEnv: false,
    stdin: 'pipe',
    buffer: false,
    reject: false,
  });
  let output = '';
  let typedAt = 0;
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (const check of waiting) check();
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const send = (message: object) => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const waitUntil = (holds: () => boolean, what: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!holds()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      void child.then(() => reject(new Error(`it ended before ${what}: ${output}${stderr}`)));
      check();
    });
  return {
    output: () => output,
    text: () => stripVTControlCharacters(output),
    type: (...texts) => {
      typedAt = output.length;
      send({ type: texts.join('') });
    },
    resize: (newColumns, rows) => {
      sizes.push({ columns: newColumns, rows });
      send({ resize: [newColumns, rows] });
    },
    seen: (what) =>
      waitUntil(() => {
        const parts = output.split('\u001e');
        return parts.length >= sizes.length && what.test(parts.at(-1) ?? '');
      }, String(what)),
    shows: (text) => waitUntil(() => stripVTControlCharacters(output.slice(typedAt)).includes(text), text),
    ended: async () => (await child).exitCode ?? -1,
    screen: () => {
      const screen = new TerminalScreen(columns, 24);
      for (const [index, part] of output.split('\u001e').entries()) {
        const now = sizes[index];
        if (index > 0 && now) screen.resize(now.columns, now.rows);
        screen.write(part);
      }
      return screen;
    },
  };
}
