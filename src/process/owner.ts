import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ProcessEntry } from './proc-table.js';

/** Who a process belongs to: a run, one start of a program, or one start within a run. */
export interface Owner {
  readonly runId?: string;
  readonly startId?: string;
}

const run = promisify(execFile);

/** Returns the environment variables that mark a program, and whatever it starts with its environment, as an owner's. */
export function ownerVariables({ runId, startId }: Owner): Record<string, string> {
  return {
    ...(runId === undefined ? {} : { SELF_HEAL_RUN_ID: runId }),
    ...(startId === undefined ? {} : { SELF_HEAL_START_ID: startId }),
  };
}

/** Returns the processes that carry the owner. */
export async function ownedBy(owner: Owner, table: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const variables = Object.entries(ownerVariables(owner)).map(([name, value]) => `${name}=${value}`);
  if (process.platform === 'win32') return [];
  if (process.platform === 'linux') {
    const isOwned = (environ: string) => variables.every((one) => `\0${environ}`.includes(`\0${one}\0`));
    return table.filter(({ pid }) => isOwned(environOf(pid)));
  }
  const { stdout } = await run('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = stdout
    .split('\n')
    .filter((line) => variables.every((one) => ` ${line} `.includes(` ${one} `)));
  const owned = new Set(lines.map((line) => Number.parseInt(line, 10)));
  return table.filter(({ pid }) => owned.has(pid));
}

/** Returns nothing if the process has ended or belongs to another user. */
function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
