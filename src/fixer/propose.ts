import { testsOf } from '../core/failure.js';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Cause } from '../core/cause.js';
import { isCode } from '../code/imports.js';
import { fromRepository, openAppChanges } from './app-changes.js';
import { driftedLocator } from './drifted-locator.js';
import { movedModule } from './moved-module.js';
import { openSources } from './project-sources.js';
import type { Proposal, Sources } from './proposal.js';
import { holds } from './renamed.js';
import { renamedCode } from './renamed-code.js';
import { renamedName } from './renamed-name.js';
import { runCodeFixes } from './run-code-fixes.js';
import { framesOf, whatFailed } from './what-failed.js';
import { real } from '../workspace/is-inside.js';

/** Where the built-in fixer works. */
export interface FixerPlaces {
  /** The project's root. */
  readonly cwd: string;
  /** The root of the working tree: the repository around the project, or the project itself. */
  readonly root: string;
  /** Files of the project that the tests were seen to load or read, absolute. */
  readonly testFiles: readonly string[];
}

/** Returns a fix for a cause that the built-in fixer is sure of; null if there is none. Changes nothing. */
export type Propose = (cause: Cause) => Promise<Proposal | null>;

/** Creates the built-in fixer for one run (BF-1). It needs no account, no model and no network. */
export function createPropose(given: FixerPlaces): Propose {
  const places = { ...given, root: realpathSync(given.root) };
  const read = openSources(places.root);
  return async (cause) => {
    const ofTests = testFilesOf(places, cause);
    const known: Known = {
      places,
      isApp: (file) => !ofTests.has(file),
      sources: async () => {
        const all = await read();
        return {
          app: all?.filter(({ file }) => !ofTests.has(file)) ?? null,
          tests: all?.filter(({ file }) => ofTests.has(file)) ?? [],
        };
      },
      changes: openAppChanges(places.root, fromRepository(cause.blame?.hunks ?? [], places)),
    };
    return (await build(cause, known)) ?? (await renamed(cause, known)) ?? drift(cause, known);
  };
}

/** The current project, for one cause. */
interface Known {
  readonly places: FixerPlaces;
  readonly isApp: (file: string) => boolean;
  readonly sources: () => Promise<Sources>;
  readonly changes: ReturnType<typeof openAppChanges>;
}

function testFilesOf({ testFiles }: FixerPlaces, { members }: Cause): ReadonlySet<string> {
  const specs = testsOf(members).map(({ location }) => location.file);
  return new Set([...testFiles, ...specs].map(real).filter((file) => isCode(file)));
}

/** Proposes a fix for what the compiler, the bundler or Node reported. */
async function build({ lead }: Cause, { places, sources, changes }: Known): Promise<Proposal | null> {
  const { failure, evidence, diagnosis } = lead;
  if (diagnosis.category !== 'build-error') return null;
  const said = stripVTControlCharacters(
    [
      ...evidence.errors.flatMap(({ message, stack }) => [message, stack ?? '']),
      evidence.serverOutput,
      ...(failure.scope === 'suite' ? [failure.stderr] : []),
    ].join('\n'),
  );
  const folders = [places.cwd, places.root];
  const moved = await movedModule(said, sources);
  if (moved) return moved;
  const hunksAbout = (name: string) => changes.hunksAbout(name);
  const found = await renamedCode({ said, sources, hunksAbout, folders });
  return found === 'gone' ? null : (found ?? runCodeFixes(said, folders));
}

/** Proposes a fix for a database, a server or the app's own code that met an old name. */
async function renamed(
  { lead }: Cause,
  { places, isApp, sources, changes }: Known,
): Promise<Proposal | null> {
  const { own, ofServer, ...seen } = whatFailed(lead, { cwd: places.cwd, isApp });
  const known = { ...seen, sources, hunksAbout: (name: string) => changes.hunksAbout(name) };
  const found = await renamedName({ ...known, said: own });
  return found ?? (ofServer === null ? null : renamedName({ ...known, said: `${own}\n${ofServer}` }));
}

async function drift({ lead }: Cause, { places, isApp, sources, changes }: Known): Promise<Proposal | null> {
  const { failure, evidence, diagnosis } = lead;
  const { locator } = diagnosis.facts;
  const { elements, ariaSnapshot } = evidence;
  if (failure.scope === 'suite' || locator === null || !elements || ariaSnapshot === null) return null;
  const { app, tests } = await sources();
  const ofApp = (file: string) => isApp(path.join(places.root, file));
  return driftedLocator({
    locator,
    isExpectation: evidence.errors.some(({ message }) => /\bexpect\b.*\(/.test(message.split('\n')[0] ?? '')),
    foundSome: evidence.errors.some(({ message }) => /\bresolved to\b/.test(message)),
    page: { elements, ariaSnapshot },
    tests,
    frames: failure.errors.flatMap(framesOf),
    renaming: (name) => changes.renaming(name, ofApp),
    changesAbout: (name) => changes.changesAbout(name, ofApp),
    isInApp: async (name) => app?.some(({ text }) => holds(text, name)) ?? true,
  });
}
