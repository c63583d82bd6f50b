import { lstatSync } from 'node:fs';
import path from 'node:path';
import { loadSettings } from '../config/load-settings.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';
import { createStore } from './create-store.js';
import type { Store } from './store.js';
import { isUrl, openStore } from './open-store.js';

/** The flags that locate a store. */
interface StoreFlags {
  readonly agents?: string | undefined;
  readonly store?: string | undefined;
}

/** Calls `use` with the store of the project in the current folder, or with null if nothing was ever stored, and closes the store. */
export async function withStore<T>(
  flags: StoreFlags,
  use: (store: Store | null) => Promise<T>,
): Promise<T | Problem> {
  const opened = await openProjectStore(flags);
  if (!opened.ok) return opened.error;
  try {
    return await use(opened.value);
  } finally {
    await opened.value?.close();
  }
}

async function openProjectStore({
  agents,
  store: named,
}: StoreFlags): Promise<Result<Store | null, Problem>> {
  const cwd = process.cwd();
  const settings = await loadSettings({ cwd, env: process.env, file: agents, store: named });
  if (!settings.ok) return settings;
  const { store: place, project } = settings.value;
  // A dangling link is a store that cannot be opened, for example because its disk is not mounted.
  const isMissing = () => !lstatSync(path.resolve(cwd, place), { throwIfNoEntry: false });
  if (!isUrl(place) && isMissing()) return ok(null);
  const opened = await openStore(place, cwd);
  return opened.ok ? ok(createStore(opened.value, project, () => Date.now())) : opened;
}
