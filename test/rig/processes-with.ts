import { readdirSync, readFileSync } from 'node:fs';

/** Returns the pids of the processes whose environment contains a variable (`NAME=value`); Linux only. */
export function findProcessesWith(variable: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readEnviron(pid).includes(variable)).map(Number);
}

function readEnviron(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
