import type { Category } from '../core/diagnosis.js';
import type { Violation } from '../core/guard/violation.js';
import { type Change, readChange } from './change.js';
import { judgeApp } from './checks/app.js';
import type { SeenPage } from './checks/locators.js';
import { judgePaths, judgeShadows, setUpFiles } from './checks/paths.js';
import { judgeReadOnly } from './checks/read-only.js';
import { judgeRestraints } from './checks/restraints.js';
import { judgeSettings } from './checks/settings.js';
import { nameStillBroken } from './checks/still-broken.js';
import { judgeTakenAway } from './checks/taken-away.js';
import { judgeTests, stepsOf } from './checks/tests.js';
import { TooLarge } from '../code/print.js';
import { harmless, type Judgement } from './judgement.js';
import { otherInput } from './other-input.js';
import { violationOf } from './rules.js';
import { sharedLiterals } from './shared-literals.js';
import { importedBy } from './test-code.js';
import type { SuitePlaces } from './test-places.js';
import type { BrokeTest } from './without-blamed.js';
import type { Tree } from '../workspace/tree.js';

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
  readonly before: Tree;
  readonly after: Tree;
  readonly suite: SuitePlaces;
  /** The pages of the red run, where they were kept. */
  readonly pages?: readonly SeenPage[];
  /** The spec files of the tests that the change is to heal; empty where nobody knows. */
  readonly healed?: readonly string[];
  /** What broke the test (BL-1), where runs have shown it: what it added to the app may be taken out again, what is older may not. */
  readonly broke?: readonly BrokeTest[];
  /** It is a whole branch, whoever wrote it, and no fix of an agent: a person may set self-heal up in it. */
  readonly isBranch?: boolean;
}

/** Each looks for one kind of violation. */
const checks = [judgePaths, judgeSettings, judgeShadows, judgeReadOnly, judgeApp];

/**
 * Judges what an agent did to the tests and to what is out of its reach, by parsing both states (HN-3, HN-4). What is not proven
 * to be harmless is a violation; so is what is too large to be judged.
 */
export async function judge(request: GuardRequest): Promise<Judgement> {
  try {
    const change = await readChange(request);
    if (!change) return harmless;
    const literals = judgeLiterals(change);
    const judged = [judgeTests(change), literals, judgeRestraints(change), judgeTakenAway(change)];
    const told = (says: string) => (file: string) => ({ file, line: null, says });
    return {
      violations: distinct([
        ...checks.flatMap((check) => check(change)),
        ...judged.flatMap(({ violations }) => violations),
      ]),
      notes: [
        ...judged.flatMap(({ notes }) => notes),
        ...change.shared.map(told('the tests read this file of the app, too')),
        ...nameStillBroken(change),
        ...setUpFiles(change).map(told('it is new and says how self-heal works here')),
      ],
      otherInput: literals.otherInput,
    };
  } catch (error) {
    if (!(error instanceof TooLarge) && !(error instanceof RangeError)) throw error;
    const detail = error instanceof TooLarge ? error.message : 'the tests are nested too deeply to be judged';
    return {
      ...harmless,
      violations: [violationOf('cannot-be-judged', { file: request.changes[0]?.path ?? '', detail })],
    };
  }
}

/** A helper that ten tests call is told of once. */
function distinct(violations: readonly Violation[]): Violation[] {
  const keyed = violations.map(
    (one) => [JSON.stringify([one.rule, one.file, one.line, one.before]), one] as const,
  );
  return [...new Map(keyed).values()];
}

/** What the app answers may be meant for the healed tests alone: a literal that both have is tried with another input, or named for the reviewer. */
function judgeLiterals({ request, now, ofApp }: Change): Judgement {
  const specs = new Set(request.healed);
  const concerned = importedBy(now, specs);
  const tests = [...now.parsed.values()].filter((file) => concerned.has(file.path));
  const shared = sharedLiterals(ofApp, tests);
  if (shared.length === 0) return harmless;
  const typed = new Set(
    stepsOf(now, specs).flatMap((step) => (step.kind === 'assertion' ? [] : (step.types ?? []))),
  );
  const tried = otherInput(shared, { typed, tests });
  const notes = shared
    .filter((one) => !tried?.literals.includes(one))
    .map(({ file, line, value }) => {
      return { file, line, says: `the fix adds ${JSON.stringify(value)}, which the healed test uses too` };
    });
  const violations = shared
    .filter((one) => one.isAnswered)
    .map(({ file, line, value }) =>
      violationOf('input-hard-coded', { file, line, detail: JSON.stringify(value) }),
    );
  return { violations, notes, otherInput: tried };
}
