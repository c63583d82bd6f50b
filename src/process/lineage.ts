import { processTable, type ProcessEntry } from './proc-table.js';

/** The observed descendants of a program. */
export interface Lineage extends Disposable {
  /** Checks again and returns every process ever seen, including the program itself; some may have ended. */
  look(): Promise<ProcessEntry[]>;
}

const EVERY_MS = 1000;

/**
 * Records a program's descendants while it runs. A process that was seen once stays known after its parent has ended, and so does any process
 * in a group or session that a known process started.
 */
export function recordLineage(root: number): Lineage {
  let known: ProcessEntry[] = [];
  const look = async () => {
    const table = await processTable();
    if (known.length === 0) known = table.filter((one) => one.pid === root);
    known = withRelatives(known, table);
    return known;
  };
  // A failed look does not matter, since others follow.
  const glance = () => void look().catch(() => undefined);
  glance();
  const timer = setInterval(glance, EVERY_MS).unref();
  return { look, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Returns the known processes and all in the table that belong to them: children, and members of groups and sessions they started. */
export function withRelatives(
  known: readonly ProcessEntry[],
  table: readonly ProcessEntry[],
): ProcessEntry[] {
  const found = [...known];
  const now = new Map(table.map((entry) => [entry.pid, entry]));
  // A pid that has been reused is nobody's relative.
  const isSame = ({ pid, startedAt }: ProcessEntry) => (now.get(pid)?.startedAt ?? startedAt) === startedAt;
  const pids = new Set(known.filter(isSame).map(({ pid }) => pid));
  // Children may come before their parents in the table, so repeat until nothing is added.
  for (let before = -1; before !== found.length;) {
    before = found.length;
    for (const entry of table) {
      const isOurs = [entry.parent, entry.group, entry.session].some((pid) => pids.has(pid));
      if (!isOurs || pids.has(entry.pid)) continue;
      pids.add(entry.pid);
      found.push(entry);
    }
  }
  return found;
}
