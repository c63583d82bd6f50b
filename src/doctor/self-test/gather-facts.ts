import { readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { processEntry } from '../../process/proc-table.js';
import { readReport } from '../../inspect/find-run.js';
import type { SelfTestFacts } from './facts.js';
import type { Scratch } from './lay-out.js';

/** Looks at what the run left in the scratch folder and on this machine; null where it left no report. */
export async function gatherFacts(
  { project, state, planted }: Scratch,
  orphans: readonly string[],
): Promise<SelfTestFacts | null> {
  const report = await readReport(path.join(project, '.self-heal', 'latest'));
  if (report === null) return null;
  const changed = new Set<string>();
  for (const [file, text] of planted) {
    const now = await readFile(path.join(project, file), 'utf8').catch(() => null);
    if (now !== text) changed.add(file);
  }
  const pids = await readFile(path.join(state, 'pids.json'), 'utf8').catch(() => '[]');
  const started = JSON.parse(pids) as number[];
  const living = await Promise.all(started.map(isAlive));
  return {
    report,
    changed,
    started,
    alive: started.filter((_, index) => living[index]),
    orphans,
  };
}

/** A zombie that nobody has reaped yet is dead. */
async function isAlive(pid: number): Promise<boolean> {
  if (process.platform !== 'win32') return (await processEntry(pid))?.zombie === false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
