import { formatProblem, type Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { createRunStore, noStore, type RunStore } from '../run/run-store.js';
import { createStore } from '../store/create-store.js';
import { openStore } from '../store/open-store.js';
import type { Opened } from './open-run.js';

/** The run for which to open the store. */
export interface RunStoreRequest extends Pick<Opened, 'settings' | 'cwd' | 'bus' | 'redactor'> {
  readonly runId: string;
}

/**
 * Opens the store for a run. If it cannot be reached or written, the run warns and continues without it (ME-9). If it cannot be
 * understood, the run ends, because continuing would forget every count and pay for every open question again.
 */
export async function openRunStore(request: RunStoreRequest): Promise<Result<RunStore, Problem>> {
  const { settings, cwd, runId, bus, redactor } = request;
  const opened = await openStore(settings.store, cwd);
  if (opened.ok) {
    const store = createStore(opened.value, settings.project, () => Date.now());
    return ok(createRunStore({ store, runId, bus, mask: (value) => redactor.deep(value) }));
  }
  if (opened.error.kind !== 'store-unusable') return err(opened.error);
  const message = `${formatProblem(opened.error).replace(/^self-heal: /, '')}\nHealing continues, but this run is not stored.`;
  bus.emit({ type: 'run.warning', message: message.replaceAll(/\s+/g, ' ') });
  return ok(noStore);
}
