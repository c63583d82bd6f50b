import { applyReplacements } from '../../replacements.js';
import type { FixerProposal } from './proposal.js';
import {
  matchesName,
  parseNames,
  findPositions,
  listValuesOnPage,
  type LocatorName,
  type NamePosition,
  type RedPage,
  type SourceText,
} from './locator-names.js';
import type { Rename } from './renames.js';

/** The evidence about a locator that found nothing. */
export interface DriftEvidence {
  /** The locator as Playwright prints it. */
  readonly locator: string;
  /** True if the failing step is an assertion about the element, so the texts in its locator are expectations. */
  readonly isExpectation: boolean;
  /** True if Playwright found an element, but in the wrong state. */
  readonly foundElement: boolean;
  readonly page: RedPage;
  /** The positions of the failing steps. */
  readonly frames: readonly { readonly file: string; readonly line: number }[];
  /** Returns which of the candidates replaced a name in the app's changes. */
  readonly findRename: (name: string, candidates: readonly string[]) => Promise<Rename | null>;
  /** Returns the test code that contains a name, and whether other files contain it, too. */
  readonly searchCode: (name: string) => Promise<{ tests: readonly SourceText[]; isInApp: boolean }>;
}

/**
 * Proposes a fix for a locator that finds nothing because the app renamed its element (BF-2). A change to the app must show the old and the new name on
 * one line, and exactly one element on the page must have the new name.
 */
export async function proposeLocatorFix(evidence: DriftEvidence): Promise<FixerProposal | null> {
  const { locator, page, foundElement, isExpectation } = evidence;
  const missingNames = (parseNames(locator) ?? []).filter(
    (candidate) => !listValuesOnPage(page, candidate).some((value) => matchesName(candidate, value)),
  );
  const [name] = missingNames;
  if (!name || missingNames.length > 1 || foundElement) return null;
  // Visible and accessible texts are part of the expectation.
  if (isExpectation && name.kind !== 'test-id') return null;
  const values = listValuesOnPage(page, name);
  const uniqueValues = values.filter((value) => values.indexOf(value) === values.lastIndexOf(value));
  const rename = await evidence.findRename(name.value, uniqueValues);
  // The new name would have to be escaped.
  if (rename === null || /["'`\\\n$]/.test(rename.newName)) return null;
  const { tests, isInApp } = await evidence.searchCode(name.value);
  const positions = choosePositions(name, { tests, frames: evidence.frames, isInApp });
  const files = tests.flatMap(({ file, text }) => {
    const inFile = positions.filter((position) => position.file === file);
    const after = applyReplacements(
      text,
      inFile.map(({ start, end }) => ({ start, end, text: rename.newName })),
    );
    return inFile.length > 0 ? [{ file, before: text, after }] : [];
  });
  if (files.length === 0) return null;
  const kind = name.kind === 'test-id' ? 'test id' : name.kind;
  return {
    summary: `the locator's ${kind} "${name.value}" is now "${rename.newName}", as renamed in ${rename.file}`,
    files,
  };
}

/** Returns all positions of a test id that the app no longer has; otherwise those in the failing steps, or the only position. */
function choosePositions(
  name: LocatorName,
  {
    tests,
    frames,
    isInApp,
  }: { tests: readonly SourceText[]; frames: DriftEvidence['frames']; isInApp: boolean },
): NamePosition[] {
  const positions = tests.flatMap((source) => findPositions(source, name));
  const calls = positions.filter(({ isInCall }) => isInCall);
  if (name.kind === 'test-id' && !isInApp && calls.length > 0) return calls;
  const failing = calls.filter((position) =>
    frames.some(
      ({ file, line }) => file === position.file && line >= position.firstLine && line <= position.lastLine,
    ),
  );
  if (failing.length > 0) return failing;
  const candidates = calls.length > 0 ? calls : positions;
  return candidates.length === 1 ? candidates : [];
}
