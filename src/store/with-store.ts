import { lstatSync } from 'node:fs';
import path from 'node:path';
import { loadSettings } from '../config/load-settings.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Store } from './store.js';

/** The flags that locate a store. */
export interface StoreFlags {
  readonly agents?: string | undefined;
  readonly store?: string | undefined;
}

interface StoreRequest extends StoreFlags {
  /** True if the command runs the project's own code anyway. Otherwise self-heal contacts no server that only agents.yaml names (CF-5). */
  readonly runsCode?: boolean;
}

/** Calls `use` with the store of the project in the current folder, or with null if there is none yet. Closes the store afterwards. */
export async function withStore<T>(
  user: StoreRequest,
  use: (store: Store | null) => Promise<T>,
): Promise<T | Problem> {
  const opened = await openProjectStore(user);
  if (!opened.ok) return opened.error;
  const { store, location } = opened.value;
  try {
    return await use(store);
  } catch (error) {
    const { explainStoreError } = await import('./open-store.js');
    const problem = explainStoreError(location, error);
    if (problem) return problem;
    throw error;
  } finally {
    await store?.close();
  }
}

async function openProjectStore({
  agents,
  store: flag,
  runsCode = false,
}: StoreRequest): Promise<Result<{ readonly store: Store | null; readonly location: string }, Problem>> {
  const cwd = process.cwd();
  // The flag is blank if its value comes from an unset variable.
  const overrides = { store: flag?.trim() || undefined };
  const settings = await loadSettings({ cwd, env: process.env, file: agents, overrides });
  if (!settings.ok) return settings;
  const { store: location, project } = settings.value;
  // Loaded on demand, because the databases' code takes longer to load than the rest of `--help`.
  const [{ isUrl, openStore }, { createStore }] = await Promise.all([
    import('./open-store.js'),
    import('./create-store.js'),
  ]);
  const isNamedByUser = [flag, process.env['SELF_HEAL_STORE']].some((name) => name?.trim());
  if (isUrl(location) && !isNamedByUser && !runsCode) return err(serverOnlyInFile);
  // A dangling link is a store that cannot be opened, for example because its disk is not mounted.
  const info = isUrl(location) ? null : lstatSync(path.resolve(cwd, location), { throwIfNoEntry: false });
  // Leaves an empty file alone, because SQLite would turn it into a store.
  if (info === undefined || (info?.isFile() && info.size === 0)) return ok({ store: null, location });
  const opened = await openStore(location, cwd, { mayCreate: false });
  if (!opened.ok) return opened;
  return ok({ store: createStore(opened.value, project, () => Date.now()), location });
}

/** The server could receive values from the environment: in its URL, or from its driver, such as PGPASSWORD. */
const serverOnlyInFile: Problem = {
  kind: 'usage',
  message: 'this command does not contact a database server that only agents.yaml names',
  remedy: 'Name it with --store, or in the environment as SELF_HEAL_STORE.',
};
