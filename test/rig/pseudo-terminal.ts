import { execFileSync, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';

/** The bytes of the keys that a person presses. */
export const keys = {
  up: '\u001B[A',
  down: '\u001B[B',
  enter: '\r',
  escape: '\u001B',
  ctrlC: '\u0003',
  backspace: '\u007F',
} as const;

/** A command on a terminal of its own. */
export interface PseudoTerminal {
  /** Resolves once the output since the last key contains this text; rejects if the command ends without it. */
  shows(text: string): Promise<void>;
  press(...pressed: readonly string[]): void;
  /** Resolves with the exit code (128 and more for a signal) once the command has ended. */
  readonly exitCode: Promise<number>;
  /** The whole output, including colors and cursor movements. */
  raw(): string;
  /** The whole output, without colors and cursor movements. */
  text(): string;
}

/** The command to run, and the terminal to run it on. */
export interface OnTerminal {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly columns?: number;
}

/** Node has no pseudo-terminals, but Python does. The script relays bytes both ways, and exits with the command's exit code. */
const relay = `
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    size = struct.pack('HHHH', 40, int(sys.argv[1]), 0, 0)
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    os.execvp(sys.argv[2], sys.argv[2:])
sources = [0, terminal]
while True:
    ready = select.select(sources, [], [])[0]
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed: os.write(terminal, typed)
        else: sources.remove(0)
    if terminal in ready:
        try: shown = os.read(terminal, 65536)
        except OSError: break
        if not shown: break
        os.write(1, shown)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`;

/** Whether this machine has pseudo-terminals; if not, says so on standard error. */
export function hasPseudoTerminal(): boolean {
  try {
    execFileSync('python3', ['-c', 'import fcntl, pty, termios']);
    return true;
  } catch {
    process.stderr.write('python3 with pty is not installed: what asks on a terminal is not tested\n');
    return false;
  }
}

/** Runs a command on a terminal, and ends it when the test is over. */
export function onTerminal(
  command: readonly string[],
  { cwd, env, columns = 100 }: OnTerminal,
): PseudoTerminal {
  const child = spawn('python3', ['-c', relay, String(columns), ...command], {
    cwd,
    env: { ...env, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Killing Python closes the terminal, which hangs up on the command.
  onTestFinished(() => void child.kill('SIGKILL'));
  let raw = '';
  let since = 0;
  let ended = false;
  const changed: (() => void)[] = [];
  const tell = () => changed.splice(0).forEach((listener) => listener());
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    raw += chunk;
    tell();
  });
  const exitCode = new Promise<number>((resolve) => {
    child.on('close', (code) => {
      ended = true;
      tell();
      resolve(code ?? -1);
    });
  });
  const text = () => stripVTControlCharacters(raw);
  return {
    exitCode,
    raw: () => raw,
    text,
    press: (...pressed) => {
      since = raw.length;
      child.stdin.write(pressed.join(''));
    },
    shows: async (wanted) => {
      while (!stripVTControlCharacters(raw.slice(since)).includes(wanted)) {
        if (ended) throw new Error(`it ended without "${wanted}":\n${text()}`);
        await new Promise<void>((resolve) => changed.push(resolve));
      }
    },
  };
}
