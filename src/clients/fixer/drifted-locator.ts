import { withReplacements } from '../../replacements.js';
import type { FixerProposal } from './proposal.js';
import {
  isFoundBy,
  namesIn,
  positionsOfName,
  valuesOnPage,
  type LocatorName,
  type NamePosition,
  type RedPage,
  type SourceText,
} from './locator-names.js';
import type { Rename } from './renames.js';

/** The evidence about a locator that found nothing. */
export interface DriftEvidence {
  /** As Playwright prints it. */
  readonly locator: string;
  /** Whether the failing step asserts something about the element, so that the texts in its locator are expectations. */
  readonly isExpectation: boolean;
  /** Whether Playwright found an element that was in the wrong state. */
  readonly foundSome: boolean;
  readonly page: RedPage;
  /** Positions of the failing steps. */
  readonly frames: readonly { readonly file: string; readonly line: number }[];
  /** Returns which of the candidates replaced a name in the app's changes. */
  readonly renamedTo: (name: string, candidates: readonly string[]) => Promise<Rename | null>;
  /** Returns the test code that contains a name, and whether other files contain it, too. */
  readonly search: (name: string) => Promise<{ tests: readonly SourceText[]; inApp: boolean }>;
}

/**
 * Proposes a fix for a locator that finds nothing since the app renamed its element (BF-2). A change of the app must show on one line what the
 * name became, and exactly one element on the page must have the new name.
 */
export async function driftedLocator(evidence: DriftEvidence): Promise<FixerProposal | null> {
  const { locator, page, foundSome, isExpectation } = evidence;
  const missing = (namesIn(locator) ?? []).filter(
    (candidate) => !valuesOnPage(page, candidate).some((value) => isFoundBy(candidate, value)),
  );
  const [name] = missing;
  if (!name || missing.length > 1 || foundSome) return null;
  // What visitors see or hear is what the assertion expects.
  if (isExpectation && name.kind !== 'test-id') return null;
  const values = valuesOnPage(page, name);
  const once = values.filter((value) => values.indexOf(value) === values.lastIndexOf(value));
  const rename = await evidence.renamedTo(name.value, once);
  // It would have to be escaped.
  if (rename === null || /["'`\\\n$]/.test(rename.to)) return null;
  const { tests, inApp } = await evidence.search(name.value);
  const positions = positionsToChange(name, { tests, frames: evidence.frames, inApp });
  const files = tests.flatMap(({ file, text }) => {
    const own = positions.filter((position) => position.file === file);
    const after = withReplacements(
      text,
      own.map(({ start, end }) => ({ start, end, text: rename.to })),
    );
    return own.length > 0 ? [{ file, before: text, after }] : [];
  });
  if (files.length === 0) return null;
  const kind = name.kind === 'test-id' ? 'test id' : name.kind;
  return {
    summary: `the locator by ${kind} "${name.value}" is now "${rename.to}", as renamed in ${rename.file}`,
    files,
  };
}

/** Returns all positions of a test id that the app no longer has; otherwise those in the failing steps, or the only position. */
function positionsToChange(
  name: LocatorName,
  { tests, frames, inApp }: { tests: readonly SourceText[]; frames: DriftEvidence['frames']; inApp: boolean },
): NamePosition[] {
  const positions = tests.flatMap((source) => positionsOfName(source, name));
  const calls = positions.filter(({ inCall }) => inCall);
  if (name.kind === 'test-id' && !inApp && calls.length > 0) return calls;
  const failing = calls.filter((position) =>
    frames.some(({ file, line }) => file === position.file && line >= position.from && line <= position.to),
  );
  if (failing.length > 0) return failing;
  const candidates = calls.length > 0 ? calls : positions;
  return candidates.length === 1 ? candidates : [];
}
