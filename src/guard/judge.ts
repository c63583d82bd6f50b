import type { Category } from '../core/diagnosis.js';
import type { Violation } from '../core/guard/violation.js';
import { isCode } from './code/imports.js';
import { TooLarge } from './code/print.js';
import { openSources, type Sources } from './code/sources.js';
import { appDataIn } from './app-data.js';
import { judgeApp } from './checks/app.js';
import { judgeCompiler } from './checks/compiler.js';
import { compareConfig } from './checks/config.js';
import { judgeEnvironment } from './checks/environment.js';
import { judgeLocators, type SeenPage } from './checks/locators.js';
import { isSnapshotPath, judgePaths, missedSnapshots, whole } from './checks/paths.js';
import { judgeReadOnly } from './checks/read-only.js';
import { judgeSettings } from './checks/settings.js';
import { judgeShadows } from './checks/shadows.js';
import { type FileEdit, fileState, isSameState } from './edit.js';
import { isSameProgram } from './code/same-program.js';
import type { Note } from '../core/guard/note.js';
import { harmless, type Judgement } from './judgement.js';
import { otherInput } from './other-input.js';
import { sharedLiterals } from './shared-literals.js';
import {
  importedBy,
  importersOf,
  isSpecName,
  readTestCode,
  type SuitePlaces,
  type TestCode,
  testPlaces,
} from './test-files.js';
import { compareTests } from './tests/compare.js';
import { readConfig } from './tests/config.js';
import { readRoots } from './tests/roots.js';
import type { GuardTree } from './tree.js';

/** A path that an agent changed, and what it is. */
export interface ChangedPath {
  /** Relative to the recorded root, with `/`. */
  readonly path: string;
  /** A link or a submodule is never looked into. Default: `file`. */
  readonly kind?: 'file' | 'link' | 'other';
}

/** What an agent changed, and what it was to heal. */
export interface GuardRequest {
  /** The class of the failure: it decides what may be written (HN-4). */
  readonly category: Category;
  readonly changes: readonly ChangedPath[];
  readonly before: GuardTree;
  readonly after: GuardTree;
  readonly suite: SuitePlaces;
  /** The pages of the red run, where they were kept. */
  readonly pages?: readonly SeenPage[];
  /** The spec files of the tests that the change is to heal; empty where nobody knows. */
  readonly healed?: readonly string[];
}

/**
 * Judges what an agent did to the tests and to what is out of its reach, by parsing both states (HN-3, HN-4). What is not proven
 * to be harmless is a violation; so is what is too large to be judged.
 */
export async function judge(request: GuardRequest): Promise<Judgement> {
  const edits = await readEdits(request);
  const [first] = edits;
  if (!first) return harmless;
  const errors = request.pages?.flatMap((page) => page.errors) ?? [];
  const plain = judgePaths(edits, missedSnapshots(errors));
  const files = edits.filter(({ kind }) => kind === 'file');
  const known = await withSpecs(request);
  const shared = await appDataIn(files, request.before, known);
  const suite = { ...known, loaded: known.loaded?.filter((file) => !shared.has(file)) ?? [] };
  try {
    const tests = await judgeTests({ ...request, suite }, files);
    const facts = { titles: suite.titles, ports: tests.ports };
    const others = files.filter(({ path }) => !tests.files.has(path) && !isSnapshotPath(path));
    const compiled = request.category === 'build-error' ? files : others;
    const found = [...others.flatMap((edit) => judgeApp(edit, facts)), ...compiled.flatMap(judgeCompiler)];
    const everywhere = files.flatMap((edit) => [
      ...judgeSettings(edit, tests),
      ...judgeEnvironment(edit.path, edit.before?.text ?? '', edit.after?.text ?? ''),
    ]);
    const literals = judgeLiterals(tests.code, { edits: others, healed: request.healed ?? [] });
    return {
      violations: distinct([...plain, ...everywhere, ...tests.violations, ...found]),
      notes: [...tests.notes, ...[...shared].map(sharedFile), ...literals.notes],
      otherInput: literals.otherInput,
    };
  } catch (error) {
    if (!(error instanceof TooLarge) && !(error instanceof RangeError)) throw error;
    const why = error instanceof TooLarge ? error.message : 'the tests are nested too deeply to be judged';
    return { ...harmless, violations: distinct([...plain, whole('cannot-be-judged', first, why)]) };
  }
}

async function readEdits({ changes, before, after }: GuardRequest): Promise<FileEdit[]> {
  const paths = changes.map((one) => one.path);
  const [olds, news] = await Promise.all([before.read(paths), after.read(paths)]);
  const state = (bytes: Uint8Array | undefined) => (bytes ? fileState(bytes) : null);
  return changes
    .map(({ path, kind = 'file' }) => ({
      path,
      kind,
      before: state(olds.get(path)),
      after: state(news.get(path)),
    }))
    .filter((edit) => edit.kind !== 'file' || !isSameState(edit.before, edit.after));
}

/** A suite that did not start named no test: then the specs are known by their names. */
async function withSpecs({ suite, before }: GuardRequest): Promise<SuitePlaces> {
  if (suite.testFiles.length > 0) return suite;
  return { ...suite, testFiles: (await before.paths()).filter((path) => isSpecName.test(path)) };
}

/** A helper that ten tests call is told of once. */
function distinct(violations: readonly Violation[]): Violation[] {
  return [
    ...new Map(
      violations.map((one) => [JSON.stringify([one.rule, one.file, one.line, one.before]), one]),
    ).values(),
  ];
}

/** What the app answers may be meant for the healed tests alone: a literal that both have is tried with another input, or named for the reviewer. */
function judgeLiterals(
  code: TestCode,
  { edits, healed }: { edits: readonly FileEdit[]; healed: readonly string[] },
): Pick<Judgement, 'notes' | 'otherInput'> {
  const specs = new Set(healed);
  const concerned = importedBy(code, specs);
  const tests = [...code.parsed.values()].filter((file) => concerned.has(file.path));
  const shared = sharedLiterals(edits, tests);
  if (shared.length === 0) return harmless;
  const steps = readRoots(sourcesOf(code, specs), specs).flatMap((root) => root.steps);
  const typed = new Set(steps.flatMap((step) => (step.kind === 'assertion' ? [] : (step.types ?? []))));
  const tried = otherInput(shared, { typed, tests });
  const notes = shared
    .filter((one) => !tried?.literals.includes(one))
    .map(({ file, line, value }) => ({ file, line, says: sharedSays(value) }));
  return { notes, otherInput: tried };
}

function sharedFile(file: string): Note {
  return { file, line: null, says: 'the tests read this file of the app, too' };
}

/** What is told of a literal that nobody tried with another one. */
function sharedSays(value: string | number): string {
  return `the fix adds ${JSON.stringify(value)}, which the healed test uses too`;
}

interface Compared {
  readonly violations: readonly Violation[];
  readonly notes: readonly Note[];
}

interface TestJudgement extends Compared {
  /** The tests as they are now. */
  readonly code: TestCode;
  /** What they imported before, as it is written there. */
  readonly imports: ReadonlySet<string>;
  /** The files of the project before the change. */
  readonly paths: ReadonlySet<string>;
  /** Changed files that are the tests' own. */
  readonly files: ReadonlySet<string>;
  readonly ports: readonly string[];
}

async function judgeTests(request: GuardRequest, edits: readonly FileEdit[]): Promise<TestJudgement> {
  const { suite, category } = request;
  const isAmongTests = testPlaces(suite);
  const old = await readTestCode(request.before, suite, { edits });
  // A state of the tests in which only the app differs need not be read again.
  const concerns = edits.some(
    ({ path, before }) => isAmongTests(path) || isIn(old, path) || (!before && isCode(path)),
  );
  const now = concerns ? await readTestCode(request.after, suite, { known: old, edits }) : old;
  const touched = edits.filter(
    ({ path }) => (isAmongTests(path) || isIn(old, path) || isIn(now, path)) && !isSnapshotPath(path),
  );
  const config = suite.config === null ? undefined : old.parsed.get(suite.config);
  const ports = [
    ...(config?.text.matchAll(/(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})|\bport:\s*(\d{2,5})/g) ?? []),
  ];
  const violations = [
    ...edits
      .filter(({ path, before }) => !before && /(?:^|\/)playwright\.config\.[mc]?[jt]s$/.test(path))
      .map((edit) => whole('config-changed', edit, 'another Playwright config')),
    ...judgeShadows(edits, new Set(old.parsed.keys())),
    ...judgeReadOnly({ category, edits: touched, old, now, config: suite.config }),
  ];
  const changed = touched.filter((edit) => !isSameCode(edit, old, now)).map(({ path }) => path);
  const compared = judgeChanged(request, { old, now, changed });
  return {
    code: now,
    imports: new Set([...old.parsed.values()].flatMap(({ imports }) => imports)),
    paths: new Set(await request.before.paths()),
    files: new Set(touched.map(({ path }) => path)),
    ports: ports.map((match) => match[1] ?? match[2] ?? ''),
    violations: [...violations, ...compared.violations],
    notes: [
      ...compared.notes,
      ...edits.flatMap(({ path }) => (old.appModules.has(path) ? [sharedFile(path)] : [])),
    ],
  };
}

function isIn({ parsed, unparsable }: TestCode, path: string): boolean {
  return parsed.has(path) || unparsable.has(path);
}

function isSameCode({ path }: FileEdit, old: TestCode, now: TestCode): boolean {
  const [before, after] = [old.parsed.get(path), now.parsed.get(path)];
  return before !== undefined && after !== undefined && isSameProgram(before, after);
}

/** More files than these are not read to see what a changed helper does in them: it is judged where it stands. */
const MAX_IMPORTERS = 300;

/** Reads what the changed files, and those that import them, do in both states, and compares it. */
function judgeChanged(
  { suite, pages = [] }: GuardRequest,
  { old, now, changed }: { old: TestCode; now: TestCode; changed: readonly string[] },
): Compared {
  if (changed.length === 0) return { violations: [], notes: [] };
  const importers = new Set([...importersOf(old, changed), ...importersOf(now, changed)]);
  const affected = importers.size > MAX_IMPORTERS ? new Set(changed) : importers;
  const [before, after] = [sourcesOf(old, affected), sourcesOf(now, affected)];
  const { violations, replaced } = compareTests(readRoots(before, affected), readRoots(after, affected));
  const settings =
    suite.config === null
      ? []
      : compareConfig(readConfig(suite.config, before), readConfig(suite.config, after));
  const located = judgeLocators(replaced, pages);
  return { violations: [...settings, ...violations, ...located.violations], notes: located.notes };
}

function sourcesOf(code: TestCode, affected: ReadonlySet<string>): Sources {
  const needed = importedBy(code, affected);
  return openSources(
    [...code.parsed.values()].filter((file) => needed.has(file.path)),
    code.importedFile,
  );
}
