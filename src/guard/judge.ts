import type { Note, Violation } from '../core/guard-findings.js';
import { TooLarge } from '../code/print.js';
import { openProject } from '../code/sources.js';
import { judgeApp } from './app.js';
import { type Change, readChange } from './change.js';
import { type Comparison, compareTests } from './compare-tests.js';
import { type Findings, harmless, type TestDifference } from './findings.js';
import type { GuardRequest } from './request.js';
import { nameLosses } from './losses.js';
import { otherInput, type OtherInput } from './other-input.js';
import { type Printed, readTests } from './read-tests.js';
import { violationOf } from './rules.js';
import { hidesFlake } from './settled.js';
import { importedBy, importersOf, type TestCode } from './test-code.js';

/** If more files than this import a changed helper, they are not read, and the helper is judged on its own. */
const MAX_IMPORTERS = 300;

/** Judges a change: cuts what may not enter, compares what the tests do, and names what is dishonest in the app (HN-3, HN-4). */
export async function judge(request: GuardRequest): Promise<Findings> {
  try {
    const change = await readChange(request);
    if (!change) return harmless;
    const told = (file: string): Note => ({
      file,
      line: null,
      says: 'the tests also read this file of the app',
    });
    const isFlaky = request.category === 'flaky';
    const comparison = compareChangedTests(change, isFlaky);
    return {
      ...comparison,
      cut: change.cut,
      violations: [...judgeApp(change), ...(isFlaky ? comparison.differences.flatMap(hidden) : [])],
      notes: [...nameLosses(change), ...change.shared.map(told)],
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

/** Compares what the changed test files, and the files that import them, do in both states. */
function compareChangedTests({ ofTests, old, now }: Change, isFlaky: boolean): Comparison {
  const changed = ofTests.map(({ path }) => path);
  if (changed.length === 0) return { differences: [], locatorChanges: [] };
  const importers = new Set([...importersOf(old, changed), ...importersOf(now, changed)]);
  const affected = importers.size > MAX_IMPORTERS ? new Set(changed) : importers;
  return compareTests(printTests(old, affected), printTests(now, affected), isFlaky);
}

/** A flake that is no longer seen is not gone (FL-3). */
function hidden({ file, line, strength, before, after }: TestDifference): Violation[] {
  const detail = hidesFlake(before, after) ?? (strength === 'weaker' ? 'it checks less' : null);
  const shown = (steps: readonly string[]) => steps.join('; ').slice(0, 200) || null;
  const place = { file, line, before: shown(before), after: shown(after) };
  return detail === null ? [] : [violationOf('flake-hidden', { ...place, detail })];
}

function printTests(code: TestCode, affected: ReadonlySet<string>): Printed[] {
  const needed = importedBy(code, affected);
  const files = [...code.parsed.values()].filter((file) => needed.has(file.path));
  return readTests(openProject(files, code.importedFile), affected);
}

const typing = /\.(?:fill|type|pressSequentially|insertText)\(("(?:[^"\\]|\\.)*")?/g;

/** Finds the texts that the healed tests type, if the fix is in the app, which may answer these texts alone. */
function inputsOf({ request: { healed }, now, ofApp }: Change): OtherInput | null {
  const specs = new Set(healed);
  if (ofApp.length === 0 || specs.size === 0) return null;
  const concerned = importedBy(now, specs);
  const tests = [...now.parsed.values()].filter((file) => concerned.has(file.path));
  const steps = printTests(now, specs)
    .flatMap(({ lines }) => lines.map(({ text }) => text))
    .join('\n');
  // The value of anything but a literal is unknown, and an empty text only clears a field.
  const typed = [...steps.matchAll(typing)].map(([, text = '"?"']) => JSON.parse(text) as string);
  const texts = new Set(typed.filter((one) => one !== ''));
  return texts.size === 0 ? null : otherInput(ofApp, { typed: texts, tests });
}
