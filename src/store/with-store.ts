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

interface StoreUser extends StoreFlags {
  /** Whether the command runs the project's own code anyway. If not, no server is contacted that only a file of the project names. */
  readonly runsCode?: boolean;
}

/** Calls `use` with the store of the project in the current folder, or with null if nothing was ever stored, and closes the store. */
export async function withStore<T>(
  user: StoreUser,
  use: (store: Store | null) => Promise<T>,
): Promise<T | Problem> {
  const opened = await openProjectStore(user);
  if (!opened.ok) return opened.error;
  const { store, location } = opened.value;
  try {
    return await use(store);
  } catch (error) {
    const { problemOfUse } = await import('./open-store.js');
    const problem = problemOfUse(location, error);
    if (problem) return problem;
    throw error;
  } finally {
    await store?.close();
  }
}

/** A store, or null if nothing was ever stored, and where it is. */
interface Located {
  readonly store: Store | null;
  readonly location: string;
}

async function openProjectStore({
  agents,
  store: named,
  runsCode = false,
}: StoreUser): Promise<Result<Located, Problem>> {
  const cwd = process.cwd();
  // A blank one comes from an unset variable.
  const overrides = { store: named?.trim() || undefined };
  const settings = await loadSettings({ cwd, env: process.env, file: agents, overrides });
  if (!settings.ok) return settings;
  const { store: location, project } = settings.value;
  // Loaded when a store is used: the databases' code takes longer to load than `--help` without it.
  const [{ isUrl, openStore }, { createStore }] = await Promise.all([
    import('./open-store.js'),
    import('./create-store.js'),
  ]);
  const isNamed = [named, process.env['SELF_HEAL_STORE']].some((one) => one?.trim());
  if (isUrl(location) && !isNamed && !runsCode) return err(namedByFile);
  // A dangling link is a store that cannot be opened, for example because its disk is not mounted.
  const info = isUrl(location) ? null : lstatSync(path.resolve(cwd, location), { throwIfNoEntry: false });
  // SQLite would make a store of an empty file, whoever it belongs to.
  if (info === undefined || (info?.isFile() && info.size === 0)) return ok({ store: null, location });
  const opened = await openStore(location, cwd, { mayCreate: false });
  if (!opened.ok) return opened;
  return ok({ store: createStore(opened.value, project, () => Date.now()), location });
}

/** The URL may hold a value of the environment, and drivers send more of it, such as PGPASSWORD. */
const namedByFile: Problem = {
  kind: 'usage',
  message:
    'agents.yaml names a store on a server, and this command contacts none that only a file of the project names',
  remedy: 'Name it with --store, or in the environment as SELF_HEAL_STORE.',
};
