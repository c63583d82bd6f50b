import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { execa } from 'execa';
import { TerminalScreen } from './terminal-screen.js';

/** Whether pseudo-terminals can be created here. Node has none, so python3's own module is used. */
export const canPty =
  process.platform !== 'win32' && spawnSync('python3', ['-c', 'import pty, termios']).status === 0;

/** A program on a terminal. */
export interface OnAPty {
  /** What it has written so far, with the byte 0x1e at each resize of the window. */
  output(): string;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Waits until its output since the last resize matches. */
  seen(what: RegExp): Promise<void>;
  /** Resolves with its exit code; 128 and more for a signal. */
  ended(): Promise<number>;
  /** What the terminal shows. */
  screen(): TerminalScreen;
}

/** Starts a program on a terminal of 80 × 24; `env` is its whole environment, except for PATH. */
export function onAPty(command: readonly string[], env: Record<string, string> = {}): OnAPty {
  const size = { columns: 80, rows: 24 };
  const sizes = [{ ...size }];
  const child = execa('python3', [path.join(import.meta.dirname, 'on-a-pty.py'), '80', '24', ...command], {
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
    extendEnv: false,
    stdin: 'pipe',
    buffer: false,
    reject: false,
  });
  let output = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (const look of waiting) look();
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const tell = (what: object) => void child.stdin.write(`${JSON.stringify(what)}\n`);
  return {
    output: () => output,
    type: (text) => tell({ type: text }),
    resize: (columns, rows) => {
      sizes.push({ columns, rows });
      tell({ resize: [columns, rows] });
    },
    seen: (what) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const parts = output.split('\u001e');
          if (parts.length < sizes.length || !what.test(parts.at(-1) ?? '')) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void child.then(() => reject(new Error(`it ended before ${String(what)}: ${output}${stderr}`)));
        look();
      }),
    ended: async () => (await child).exitCode ?? -1,
    screen: () => {
      const screen = new TerminalScreen(80, 24);
      for (const [index, part] of output.split('\u001e').entries()) {
        const now = sizes[index];
        if (index > 0 && now) screen.resize(now.columns, now.rows);
        screen.write(part);
      }
      return screen;
    },
  };
}
