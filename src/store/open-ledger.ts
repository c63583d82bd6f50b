import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../clock.js';
import { loadSettings } from '../config/load-settings.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';
import { createLedger } from './create-ledger.js';
import type { Ledger } from './ledger.js';
import { openStore } from './open-store.js';
import type { Database } from './tables.js';

/** The project's store, as commands use it that ask and answer. */
export interface OpenLedger {
  readonly ledger: Ledger;
  readonly db: Database;
  readonly project: string;
}

/** Opens the store of the project in the current folder; null where nothing was ever stored. */
export async function openLedger(agents: string | undefined): Promise<Result<OpenLedger | null, Problem>> {
  const cwd = process.cwd();
  const settings = await loadSettings({ cwd, env: process.env, ...(agents ? { file: agents } : {}) });
  if (!settings.ok) return settings;
  const { store, project } = settings.value;
  if (!/^\w+:\/\//.test(store) && !existsSync(path.resolve(cwd, store))) return ok(null);
  const opened = await openStore(store, cwd);
  if (!opened.ok) return opened;
  const ledger = createLedger(opened.value, project, () => systemClock.now());
  return ok({ ledger, db: opened.value, project });
}

/** Uses the ledger of the project in the current folder, null where nothing was ever stored, and closes it. */
export async function withLedger<T>(
  { agents }: { readonly agents?: string },
  use: (ledger: Ledger | null) => Promise<T>,
): Promise<T | Problem> {
  const opened = await openLedger(agents);
  if (!opened.ok) return opened.error;
  const ledger = opened.value?.ledger ?? null;
  try {
    return await use(ledger);
  } finally {
    await ledger?.close();
  }
}
