import type { Hunk } from '../model/blame.js';
import type { DiagnosedFailure } from '../model/cause.js';

/** Words from Playwright's and the rules' own vocabulary, which occur in any code. */
const commonWords =
  /^(?:getby\w*|locator|name|role|button|text|exact|true|false|null|undefined|error|typeerror|http|https|localhost|post|index|page|test|tests|expect|expected|received|tobe\w*|tohave\w*|tocontain\w*|timeout|call|waiting|element|visible|found|string|number|server|from|with|this|that|const|return|does|read|reading|properties|property|cannot|type|exist|value|values|pattern|substring|unexpected|resolved|function|line|find|failed)$/;

/** A code position in a stack or a compiler's message: `src/cart.ts:12:5`, `src/cart.ts(12,5)`. */
const positionPattern = /([\w.@~-]+(?:\/[\w.@~-]+)*\.\w+)[:(](\d+)/g;

/** A position that is relevant to a failure although its texts do not name it: the first line of a function. */
export interface RelatedPosition {
  readonly at: string;
  readonly weight: number;
}

/** The assumed maximum length of a function whose first line is known, in lines. */
const MAX_FUNCTION = 60;

/** A hunk, with its current position if known. */
type HunkAtLine = Hunk & { readonly newStart?: number };

/**
 * Rates how likely a hunk caused a failure. A hunk gets points if a stack or the compiler names its file or its lines, and for words of the failure
 * (a locator's text, a test id, a route, a column, a symbol); a word that the hunk added or removed counts twice. `relatedPositions` are
 * positions that its texts do not name, such as the code that answered a request.
 */
export function rateHunk(
  { failure, diagnosis, evidence }: DiagnosedFailure,
  relatedPositions: readonly RelatedPosition[] = [],
): (hunk: HunkAtLine) => number {
  const { source, errorType: _type, sqlState: _state, ...facts } = diagnosis.facts;
  const errors = evidence.errors.flatMap(({ message, causes }) => [message, ...causes]);
  const stderr = failure.scope === 'suite' ? failure.stderr : '';
  const reasons = diagnosis.why.map((reason) => reason.evidence);
  const stacks = evidence.errors.map(({ stack }) => stack);
  const textsWithPositions = [
    source,
    ...reasons,
    ...evidence.sources.map(({ at }) => at),
    ...stacks,
    ...errors,
    stderr,
  ];
  const positions = textsWithPositions.flatMap((text) => [...(text ?? '').matchAll(positionPattern)]);
  const related = relatedPositions.flatMap(({ at, weight }) =>
    [...at.matchAll(positionPattern)].map(([, path = '', line]) => ({ path, line: Number(line), weight })),
  );
  const texts = [
    ...Object.values(facts),
    ...reasons,
    ...errors.map((text) => text.split('\n', 12).join('\n')),
  ];
  const words = new Set(
    texts.flatMap((text) => listWords(text ?? '')).filter((word) => !commonWords.test(word)),
  );
  return ({ file, old, now, newStart = 0 }) => {
    const name = file.split('/').slice(-2).join('/');
    const lines = positions
      .filter(([, at = '']) => at === file || at.endsWith(name))
      .map(([, , n]) => Number(n));
    const isNear = (line: number) => line - 1 <= newStart + now.length && newStart <= line + MAX_FUNCTION;
    const nearness = related
      .filter(({ path }) => path === file || path.endsWith(name))
      .map(({ line, weight }) => weight * (isNear(line) ? 2 : 1));
    const isInHunk = lines.some((n) => n >= newStart - 1 && n <= newStart + now.length);
    const [before, after] = [old, now].map((text) => new Set(listWords(text.join(''))));
    const namedWords = [...words].filter((word) => before?.has(word) || after?.has(word));
    const changedWords = namedWords.filter((word) => before?.has(word) !== after?.has(word));
    return (
      (lines.length > 0 ? 2 : 0) +
      (isInHunk ? 4 : 0) +
      Math.max(0, ...nearness) +
      Math.min(namedWords.length + changedWords.length, 6)
    );
  };
}

/** Lists words, and numbers such as a status that a test expects. */
function listWords(text: string): string[] {
  return (
    text.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]{3,}|(?<![\p{L}\p{N}_.])\d{3,}(?![\p{L}\p{N}_])/gu) ?? []
  );
}
