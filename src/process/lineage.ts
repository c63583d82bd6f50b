import { processTable, type ProcessEntry } from './proc-table.js';

/** What a program has started, as far as it was seen. */
export interface Lineage extends Disposable {
  /** Looks now, and gives all that was ever seen, itself included; some of it may be gone. */
  look(): Promise<ProcessEntry[]>;
}

const EVERY_MS = 1000;

/**
 * Records a program's descendants while it runs. A process that was seen once stays known when its parent is gone, and so does whoever
 * joins a group or a session that a known one began.
 */
export function recordLineage(root: number): Lineage {
  let known: ProcessEntry[] = [];
  const look = async () => {
    const table = await processTable();
    if (known.length === 0) known = table.filter((one) => one.pid === root);
    known = withRelatives(known, table);
    return known;
  };
  // A look that fails is followed by others.
  const glance = () => void look().catch(() => undefined);
  glance();
  const timer = setInterval(glance, EVERY_MS).unref();
  return { look, [Symbol.dispose]: () => clearInterval(timer) };
}

/** The known processes and all of the table that belong to them: children, and members of groups and sessions that they began. */
export function withRelatives(
  known: readonly ProcessEntry[],
  table: readonly ProcessEntry[],
): ProcessEntry[] {
  const found = [...known];
  const now = new Map(table.map((entry) => [entry.pid, entry]));
  // A pid that another process has by now is nobody's relative.
  const isSame = ({ pid, startedAt }: ProcessEntry) => (now.get(pid)?.startedAt ?? startedAt) === startedAt;
  const pids = new Set(known.filter(isSame).map(({ pid }) => pid));
  // Parents may come after their children in the table, so look until nothing is added.
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
