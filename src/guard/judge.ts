import type { Category } from '../core/diagnosis.js';
import type { Violation } from '../core/guard/violation.js';
import { type Change, readChange } from './change.js';
import { judgeApp } from './checks/app.js';
import type { SeenPage } from './checks/locators.js';
import { nameLosses } from './checks/losses.js';
import { judgePaths, judgeShadows, setUpFiles } from './checks/paths.js';
import { judgeReadOnly } from './checks/read-only.js';
import { judgeTests, stepsOf } from './checks/tests.js';
import { TooLarge } from '../code/print.js';
import { harmless, type Findings } from './findings.js';
import { type OtherInput, otherInput } from './other-input.js';
import { violationOf } from './rules.js';
import { importedBy } from './test-code.js';
import type { SuitePlaces } from './test-places.js';
import type { Tree } from '../workspace/tree.js';

/** A path that an agent changed, and what kind of file it is. */
export interface ChangedPath {
  /** Relative to the recorded root, with forward slashes. */
  readonly path: string;
  /** Links and submodules are never read. Default: `file`. */
  readonly kind?: 'file' | 'link' | 'other';
}

/** What an agent changed, and what it was asked to heal. */
export interface GuardRequest {
  /** The class of the failure, which decides which files may change (HN-4). */
  readonly category: Category;
  readonly changes: readonly ChangedPath[];
  readonly before: Tree;
  readonly after: Tree;
  readonly suite: SuitePlaces;
  /** The pages of the red run, if they were captured. */
  readonly pages?: readonly SeenPage[];
  /** The spec files of the tests to heal; empty if unknown. */
  readonly healed?: readonly string[];
  /** Whether the change is a whole branch by any author, not an agent's fix: a person may set up self-heal in it. */
  readonly isBranch?: boolean;
}

/** Each check looks for one kind of violation. */
const checks = [judgePaths, judgeShadows, judgeReadOnly, judgeApp];

/**
 * Judges what an agent did to the tests, to the app and to protected files, by parsing both states (HN-3, HN-4). A change to the tests that
 * is not proven harmless is a violation, and so is a change that is too large to be judged.
 */
export async function judge(request: GuardRequest): Promise<Findings> {
  try {
    const change = await readChange(request);
    if (!change) return harmless;
    const tests = judgeTests(change);
    const told = (says: string) => (file: string) => ({ file, line: null, says });
    return {
      ...harmless,
      locatorChanges: tests.locatorChanges,
      violations: distinct([...checks.flatMap((check) => check(change)), ...tests.violations]),
      notes: [
        ...tests.notes,
        ...nameLosses(change),
        ...change.shared.map(told('the tests also read this file of the app')),
        ...setUpFiles(change).map(told('it is new and configures self-heal')),
      ],
      otherInput: inputsOf(change),
    };
  } catch (error) {
    if (!(error instanceof TooLarge) && !(error instanceof RangeError)) throw error;
    const detail = error instanceof TooLarge ? error.message : 'the tests are nested too deeply to judge';
    return {
      ...harmless,
      violations: [violationOf('cannot-be-judged', { file: request.changes[0]?.path ?? '', detail })],
    };
  }
}

/** Removes duplicates, so that a helper called by ten tests is reported once. */
function distinct(violations: readonly Violation[]): Violation[] {
  const keyed = violations.map(
    (one) => [JSON.stringify([one.rule, one.file, one.line, one.before]), one] as const,
  );
  return [...new Map(keyed).values()];
}

/** Exchanges the texts that the healed tests type, if the fix is in the app, which may answer these texts alone. */
function inputsOf({ request: { healed }, now, ofApp }: Change): OtherInput | null {
  const specs = new Set(healed);
  if (ofApp.length === 0 || specs.size === 0) return null;
  const concerned = importedBy(now, specs);
  const tests = [...now.parsed.values()].filter((file) => concerned.has(file.path));
  const typed = stepsOf(now, specs).flatMap((step) => (step.kind === 'assertion' ? [] : (step.types ?? [])));
  return otherInput(ofApp, { typed: new Set(typed), tests });
}
