import { realpathSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Cause } from '../core/cause.js';
import { isCode } from '../guard/code/imports.js';
import { openAppChanges } from './app-changes.js';
import { driftedLocator } from './drifted-locator.js';
import { framesOf } from './frames.js';
import { movedModule } from './moved-module.js';
import { readSources } from './project-sources.js';
import type { Proposal, SourceText } from './proposal.js';
import { holds } from './renamed.js';
import { renamedName } from './renamed-name.js';
import { runCodeFixes } from './run-code-fixes.js';

/** Where the built-in fixer works. */
export interface FixerPlaces {
  /** The project's root. */
  readonly cwd: string;
  /** The folder of which the tree is one: the repository around the project, or the project. */
  readonly root: string;
  /** Files of the project that the tests were seen to load or read, absolute. */
  readonly testFiles: readonly string[];
}

/** A fix for a cause that the built-in fixer is sure of; null where it is not. Changes nothing. */
export type Propose = (cause: Cause) => Promise<Proposal | null>;

/** Makes the built-in fixer for one run (BF-1): it needs no account, no model and no network. */
export function createPropose(places: FixerPlaces): Propose {
  return async (cause) => {
    const known = await lookAround(places, cause);
    return (await build(cause, known)) ?? (await renamed(cause, known)) ?? drift(cause, known);
  };
}

/** The project as it is now, for one cause. */
interface Known {
  readonly places: FixerPlaces;
  readonly tests: readonly SourceText[];
  /** Null where it is too large to be searched. */
  readonly app: readonly SourceText[] | null;
  readonly changes: ReturnType<typeof openAppChanges>;
}

async function lookAround(places: FixerPlaces, { members }: Cause): Promise<Known> {
  const root = realpathSync(places.root);
  const named = [
    ...places.testFiles,
    ...members.flatMap(({ failure }) => (failure.scope === 'test' ? [failure.test.location.file] : [])),
  ];
  const ofTests = new Set(named.map(real).filter((file) => isCode(file)));
  const all = await readSources(root);
  return {
    places: { ...places, root },
    tests: all?.filter(({ file }) => ofTests.has(file)) ?? [],
    app: all?.filter(({ file }) => !ofTests.has(file)) ?? null,
    changes: openAppChanges(root),
  };
}

/** What the compiler, the bundler or Node said of the code. */
async function build({ lead }: Cause, { places, tests, app }: Known): Promise<Proposal | null> {
  const { failure, evidence, diagnosis } = lead;
  if (diagnosis.category !== 'build-error' || app === null) return null;
  const said = stripVTControlCharacters(
    [
      ...evidence.errors.flatMap(({ message, stack }) => [message, stack ?? '']),
      evidence.serverOutput,
      ...(failure.scope === 'suite' ? [failure.stderr] : []),
    ].join('\n'),
  );
  return movedModule(said, [...app, ...tests]) ?? runCodeFixes(said, [places.cwd, places.root]);
}

/** A database, a server or the app's own code that met a name of before. */
async function renamed({ lead }: Cause, { places, tests, app, changes }: Known): Promise<Proposal | null> {
  const { evidence, diagnosis } = lead;
  if (app === null) return null;
  const [, source = '', line = ''] = /^(.+?):(\d+)/.exec(diagnosis.facts.source ?? '') ?? [];
  const thrower = source === '' ? null : path.resolve(places.cwd, source);
  const text = app.find(({ file }) => file === thrower)?.text ?? null;
  return renamedName({
    said: [
      ...evidence.errors.map(({ message }) => message),
      ...evidence.console.map((entry) => entry.text),
      ...evidence.network.map(({ responseBody }) => responseBody ?? ''),
      evidence.serverOutput,
    ].join('\n'),
    notFound: evidence.network.flatMap(({ status, url }) =>
      status === 404 || status === 405 ? [new URL(url, 'http://localhost').pathname] : [],
    ),
    line: text?.split('\n')[Number(line) - 1] ?? null,
    thrower,
    app,
    tests,
    hunksAbout: (name) => changes.hunksAbout(name),
  });
}

function drift({ lead }: Cause, { places, tests, app, changes }: Known): Promise<Proposal | null> {
  const { failure, evidence, diagnosis } = lead;
  const { locator } = diagnosis.facts;
  const { elements, ariaSnapshot } = evidence;
  if (failure.scope === 'suite' || locator === null || !elements || ariaSnapshot === null)
    return Promise.resolve(null);
  const ofTests = new Set(tests.map(({ file }) => file));
  const isApp = (file: string) => !ofTests.has(path.join(places.root, file));
  return driftedLocator({
    locator,
    isExpectation: evidence.errors.some(({ message }) => /\bexpect\b.*\(/.test(message.split('\n')[0] ?? '')),
    page: { elements, ariaSnapshot },
    tests,
    frames: framesOf(failure.errors).map((one) => ({ ...one, file: real(one.file) })),
    renaming: (name) => changes.renaming(name, isApp),
    isInApp: async (name) => app?.some(({ text }) => holds(text, name)) ?? true,
  });
}

function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
