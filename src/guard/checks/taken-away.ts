import escapeStringRegexp from 'escape-string-regexp';
import { compareTrees, type Difference } from '../../code/compare-trees.js';
import type { SyntaxNode } from '../../code/syntax.js';
import type { Change } from '../change.js';
import { operationsIn, type Tree, treesIn } from '../operations.js';
import type { FileEdit } from '../edit.js';
import type { Judged } from '../findings.js';
import { violationOf } from '../rules.js';
import { codeOf, type Known, lossIn } from './losses.js';
import { blamedWords, type BrokeTest, lineOf, wordsIn } from '../without-blamed.js';

/** Longer files, in characters, are hardly written by hand, and are not compared. */
const MAX_TEXT = 200_000;
/** How many places are named individually for the reviewer. */
const MAX_NOTES = 12;

/**
 * Compares the app before and after for what it no longer does: a call, a condition, a refusal or a setting that was removed or weakened
 * (HN-3). What occurs as often as before in the changed files has only moved, and what broke the test may go. A constant in place of a call
 * is a stub, and so is a constant that the tests expect; a call that is no longer awaited fails unnoticed. Anything else may be a fix, and
 * is named for the reviewer.
 */
export function judgeTakenAway({ request: { broke = [] }, ofApp, old }: Change): Judged {
  const edits = ofApp.filter(({ path }) => !judgedElsewhere.test(path));
  const isLong = ({ before, after }: FileEdit) =>
    [before, after].some((one) => (one?.text?.length ?? 0) > MAX_TEXT);
  const long = edits.filter(isLong).map(({ path }) => {
    return { file: path, line: null, says: 'it is too long to compare' };
  });
  const states = edits.filter((one) => !isLong(one)).map(statesOf);
  const [was, is, green] = [
    operationsOf(states.map((one) => one.was)),
    operationsOf(states.map((one) => one.is)),
    operationsOf(states.map((one) => one.green)),
  ];
  const isLess = (operation: string) =>
    (is.get(operation) ?? 0) < Math.min(was.get(operation) ?? 0, green.get(operation) ?? 0);
  const isExpected = (value: unknown) => {
    const word = new RegExp(String.raw`(?<![\w.])${escapeStringRegexp(String(value))}(?![\w.]\w)`);
    const isText = /^(?:string|number)$/.test(typeof value) && String(value).length > 1;
    return isText && [...old.parsed.values()].some(({ text }) => word.test(text));
  };
  const blamed = { broke, words: blamedWords(broke) };
  const losses = states.flatMap((one) => lossesIn(one, { isLess, isExpected, blamed }));
  const notes = losses.flatMap(({ rule, file, line, says }) => (rule ? [] : [{ file, line, says }]));
  const [next, ...others] = notes.splice(MAX_NOTES);
  const says = `${others.length + 1} more parts of the app do less than before`;
  return {
    violations: losses.flatMap(({ rule, says: detail, ...at }) =>
      rule ? [violationOf(rule, { ...at, detail })] : [],
    ),
    notes: [...long, ...notes, ...(next ? [{ file: next.file, line: null, says }] : [])],
  };
}

/** Manifests and lock files have rules of their own. */
const judgedElsewhere = /(?:^|\/)(?:package\.json|[^/]*lock[^/]*)$/;

interface States {
  readonly edit: FileEdit;
  readonly was: readonly Tree[];
  readonly is: readonly Tree[];
  /** The old state without what broke the test. */
  readonly green: readonly Tree[];
}

function statesOf(edit: FileEdit): States {
  const was = treesIn(edit.path, edit.before?.text ?? '');
  const is = treesIn(edit.path, edit.after?.text ?? '');
  return { edit, was, is, green: edit.green === null ? was : treesIn(edit.path, edit.green) };
}

function operationsOf(states: readonly (readonly Tree[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of states.flat().flatMap(({ program }) => operationsIn(program)))
    counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

/** What broke the test, and its words. */
interface Blamed {
  readonly broke: readonly BrokeTest[];
  readonly words: ReturnType<typeof blamedWords>;
}

/** What has to be known to judge a loss, and what broke the test. */
type Asked = Omit<Known, 'isOlder'> & { readonly blamed: Blamed };

function lossesIn({ edit, was, is }: States, asked: Asked) {
  const parts = was.flatMap((olds, index) => {
    const news = edit.before && edit.after ? is[index] : undefined;
    return news ? [{ olds, news, differences: compareTrees(olds.program, news.program) }] : [];
  });
  const all = parts.flatMap(({ differences }) => differences);
  return parts.flatMap(({ olds, news, differences }) => {
    const isOlder = (one: Difference) =>
      standsAlone(one, all) && isApart(one.old, { ...asked.blamed, edit, tree: olds });
    return differences.flatMap((one) => {
      const loss = lossIn(one, { was: olds, is: news }, { ...asked, isOlder });
      if (!loss) return [];
      const line = one.now ? news.lineAt(one.now.start) : olds.lineAt(one.old?.start ?? 0);
      const [before, after] = [codeOf(one.old, olds), codeOf(one.now, news)].map(
        (text) => text.slice(0, 200) || null,
      );
      return [{ ...loss, file: edit.path, line, before: before ?? null, after: after ?? null }];
    });
  });
}

/** Types of nodes that stand on their own. An argument, a link or a property may have to go along with what it was for. */
const ofItself = /Statement$|^Line$|^Decorator$|^JSX(?:Element|Fragment|ExpressionContainer)$/;

/** Whether a removed node stood on its own, and nothing was added or changed next to it that may do the same. */
function standsAlone({ old, within }: Difference, all: readonly Difference[]): boolean {
  const isBeside = (one: Difference) => one.within.start >= within.start && one.within.end <= within.end;
  return ofItself.test(old?.type ?? '') && !all.some((one) => one.now !== null && isBeside(one));
}

/**
 * Whether code need not follow the blamed change: it is in the lines that the change altered, which had an older form, or shares no word
 * with the change.
 */
function isApart(
  old: SyntaxNode | null,
  { broke, words, edit, tree }: Blamed & { edit: FileEdit; tree: Tree },
): boolean {
  if (!old || !words) return false;
  const [first, last] = [tree.lineAt(old.start), tree.lineAt(old.end)];
  const isAltered = broke.some((hunk) => {
    const line = hunk.file === edit.path ? lineOf(hunk, edit.before?.text ?? '') : null;
    return line !== null && hunk.old.length > 0 && line <= last && first < line + hunk.now.length;
  });
  return isAltered || ![...wordsIn([codeOf(old, tree)])].some((word) => words.has(word));
}
