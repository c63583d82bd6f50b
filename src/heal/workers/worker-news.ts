import type { Settings } from '../../core/settings.js';
import { configDigest, type HealedTree } from '../../queue/queue-name.js';
import type { WorkerRow } from '../../queue/worker-table.js';
import type { Bus } from '../../run/bus.js';

/** Announces changes among the workers of a run, each change once. */
export function createWorkerNews(bus: Bus, here: HealedTree & { queue: string }, settings: Settings) {
  const own = { ...here, config: configDigest(settings) };
  const taken = new Map<string, string | null>();
  let saidNone = false;
  let isReplaced = false;
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  return {
    saw(rows: readonly WorkerRow[], waiting: number): void {
      for (const { name, causeId, queue } of rows) {
        const isNew = causeId !== null && queue === own.queue && taken.get(name) !== causeId;
        if (isNew) bus.emit({ type: 'cause.taken', causeId, worker: name });
        taken.set(name, causeId);
      }
      const isAlone = rows.every(({ queue }) => queue !== own.queue);
      if (waiting > 0 && isAlone && !saidNone) warn(nobody(rows, own));
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

/** Returns why a worker does not take these causes. */
function whereElse(row: WorkerRow, { commit, version, config }: Own): string {
  if (row.commit !== commit) return `is at commit ${row.commit.slice(0, 12)}`;
  if (row.version !== version) return `is self-heal ${row.version}`;
  return row.config === config ? 'heals another folder or other tests' : 'has other settings';
}

function nobody(rows: readonly WorkerRow[], own: Own): string {
  const others = rows.map((row) => `; ${row.name} ${whereElse(row, own)}`).join('');
  return `No worker is available for these causes${others}. Start one in a checkout of ${own.commit.slice(0, 12)}: self-heal worker --store …`;
}
