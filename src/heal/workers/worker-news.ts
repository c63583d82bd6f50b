import type { Settings } from '../../core/settings.js';
import type { WorkerSummary } from '../../event.js';
import { configDigest, type HealedTree } from '../../queue/queue-name.js';
import type { WorkerRow } from '../../queue/worker-table.js';
import type { Bus } from '../../run/bus.js';

/** Announces changes among the workers of a run, each change once. */
export function createWorkerNews(bus: Bus, here: HealedTree & { queue: string }, settings: Settings) {
  const own = { ...here, config: configDigest(settings) };
  let last = '[]';
  const taken = new Map<string, string | null>();
  let saidNone = false;
  let isReplaced = false;
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  return {
    saw(rows: readonly WorkerRow[], waiting: number): void {
      const workers = rows.map((row) => summaryOf(row, own));
      const now = JSON.stringify(workers);
      if (now !== last) bus.emit({ type: 'workers.seen', workers });
      last = now;
      for (const { name, causeId, elsewhere } of workers) {
        const isNew = causeId !== null && elsewhere === null && taken.get(name) !== causeId;
        if (isNew) bus.emit({ type: 'cause.taken', causeId, worker: name });
        taken.set(name, causeId);
      }
      const isAlone = workers.every(({ elsewhere }) => elsewhere !== null);
      if (waiting > 0 && isAlone && !saidNone) warn(nobody(workers, own));
      saidNone = waiting > 0 && isAlone;
    },
    lost(causeId: string | null, worker: string | null): void {
      const who = worker === null ? 'its worker' : `worker ${worker}`;
      warn(
        `${causeId ?? 'A cause'}: ${who} stopped responding; another worker takes over, and the agent run still counts.`,
      );
    },
    replaced(): void {
      if (isReplaced) return;
      isReplaced = true;
      warn('Another machine has taken over these causes, because this one sent no heartbeat for too long.');
    },
  };
}

type Own = HealedTree & { readonly queue: string; readonly config: string };

function summaryOf(row: WorkerRow, own: Own): WorkerSummary {
  const { name, state, since, causeId } = row;
  return { name, state, since: Date.parse(since), causeId, elsewhere: whereElse(row, own) };
}

/** Returns why a worker does not take these causes; null if it does. */
function whereElse(row: WorkerRow, { queue, commit, version, config }: Own): string | null {
  if (row.queue === queue) return null;
  if (row.commit !== commit) return `is at commit ${row.commit.slice(0, 12)}`;
  if (row.version !== version) return `is self-heal ${row.version}`;
  return row.config === config ? 'heals another folder or other tests' : 'has other settings';
}

function nobody(workers: readonly WorkerSummary[], { commit }: Own): string {
  const others = workers.map(({ name, elsewhere }) => `; ${name} ${elsewhere}`).join('');
  return `No worker is available for these causes${others}. Start one in a checkout of ${commit.slice(0, 12)}: self-heal worker --store …`;
}
