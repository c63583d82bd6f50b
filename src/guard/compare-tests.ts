import { stretchesOf } from '../code/compare-trees.js';
import { type LocatorText, numbersOf, spell } from '../code/playwright-calls.js';
import type { LocatorChange, Strength, TestDifference } from './findings.js';
import type { Line, Printed } from './read-tests.js';
import { isSettled, isTidying, madeOwn } from './settled.js';
import { isSpecName } from './test-places.js';

/** What the tests do differently, and the locators that were replaced in steps that are otherwise the same and assert as much. */
export interface Comparison {
  readonly differences: readonly TestDifference[];
  readonly locatorChanges: readonly LocatorChange[];
}

/** A step before and after that differs in its locators at most. */
type Pair = readonly [before: Line, after: Line];

/**
 * Compares the tests in canonical form (HN-3, HN-4). With their locators blanked they have to be equal, except for added web-first assertions and
 * waits. A locator may not assert less than before. A flaky test may wait for what it did not wait for, and have data of its own (FL-3).
 */
export function compareTests(
  before: readonly Printed[],
  after: readonly Printed[],
  isFlaky = false,
): Comparison {
  const differences: TestDifference[] = [];
  const kept: (readonly [Printed, Pair])[] = [];
  const textsOf = (all: readonly Printed[]) =>
    all.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n');
  const [was, texts] = [textsOf(before), textsOf([...before, ...after])];
  for (const [old, now] of pairsOf(before, after)) {
    if (!old || !now) {
      const only = old ?? now;
      if (only) differences.push(...judgeUnpaired(only, old !== null, texts));
      continue;
    }
    const isSame = (a: Line, b: Line) =>
      a.text === b.text || (isFlaky && (isSettled(a.text, b.text) || madeOwn(a.text, b.text) !== null));
    const stretches = stretchesOf(old.lines, now.lines, isSame);
    for (const { before: olds, after: news, isKept } of stretches)
      if (isKept && !isFlaky)
        kept.push(...olds.map((line, index) => [now, [line, news[index] ?? line]] as const));
    const changed = stretches.filter(({ isKept }) => !isKept);
    const strengths = changed.map((one) =>
      isFlaky && isTidied(one, stretches, was) ? 'stronger' : strengthOf(one.before, one.after),
    );
    const shared = stretches.filter(({ isKept }) => isKept);
    // It judges locators, too: those of a flaky test may find what is its own, and nothing else.
    if (isFlaky && !isAllOwn(shared)) strengths.push('different');
    const worst = (['weaker', 'different', 'stronger'] as const).find((one) => strengths.includes(one));
    if (worst) {
      const [olds, news] = [changed.flatMap((one) => one.before), changed.flatMap((one) => one.after)];
      differences.push(differenceOf(now, worst, olds, news));
    }
  }
  const pairs = kept.map(([, pair]) => pair);
  const proven = pairs.filter(([{ text }]) => !isAbsence(text)).flatMap(changesIn);
  const locatorChanges: LocatorChange[] = [];
  for (const [test, pair] of kept) {
    if (isSameLook(...pair, proven)) locatorChanges.push(...changesIn(pair));
    else differences.push(differenceOf(test, 'different', [pair[0]], [pair[1]]));
  }
  const distinct = new Map(locatorChanges.map((one) => [JSON.stringify(one), one]));
  return { differences, locatorChanges: [...distinct.values()] };
}

type Stretch = ReturnType<typeof stretchesOf<Line>>[number];

/** Whether it is only tidied up before a test does or looks at anything, or after all of that. */
function isTidied(one: Stretch, all: readonly Stretch[], tests: string): boolean {
  const at = all.indexOf(one);
  const isIdle = ({ before, after }: Stretch) =>
    ![...before, ...after].some((line) => line.locators.length > 0 || asserts(line));
  return (
    one.before.length === 0 &&
    one.after.every(({ text }) => isTidying(text, tests)) &&
    (all.slice(0, at).every(isIdle) || all.slice(at + 1).every(isIdle))
  );
}

/** Whether every text that was made a test's own is so in all of its steps, in the same way, and not only in what they expect. */
function isAllOwn(kept: readonly Stretch[]): boolean {
  const pairs = kept.flatMap(({ before, after }) =>
    before.map((line, index) => [line, after[index] ?? line] as const),
  );
  const own = new Map<string, string>();
  const made = new Set<string>();
  for (const [was, is] of pairs) {
    const [old, now] = [was, is].map(({ text, locators }) => spell(text, locators));
    if (old === undefined || now === undefined || old === now) continue;
    if (isSettled(was.text, is.text) && was.locators.every(({ code }, n) => code === is.locators[n]?.code))
      continue;
    const texts = madeOwn(old, now);
    if (!texts) return false;
    for (const [shared, its] of texts) {
      if ((own.get(shared) ?? its) !== its) return false;
      own.set(shared, its);
      if (!asserts(was)) made.add(shared);
    }
  }
  const isLeft = (old: string, now: string) =>
    pairs.some(([, is]) => is.text.replaceAll(now, '').includes(old));
  return [...own].every(([old, now]) => made.has(old) && !isLeft(old, now));
}

/** Pairs tests by file and title, or by title alone if they moved. What is unused is paired by what it does first. */
function* pairsOf(
  before: readonly Printed[],
  after: readonly Printed[],
): Generator<readonly [Printed | null, Printed | null]> {
  const left = new Set(after);
  const byTitle = new Map<string, Printed[]>();
  for (const one of after) byTitle.set(one.title, [...(byTitle.get(one.title) ?? []), one]);
  const does = ({ lines }: Printed) => lines.map(({ text }) => text).join('\n');
  const ways: readonly ((a: Printed, b: Printed) => boolean)[] = [
    (a, b) => a.key === b.key && (a.kind !== 'unused' || does(a) === does(b)),
    (a, b) => a.key === b.key,
    (a, b) => a.kind === 'test' && b.kind === 'test' && isSpecName.test(b.file),
  ];
  let alone = [...before];
  for (const isSame of ways) {
    const rest: Printed[] = [];
    for (const old of alone) {
      const now = (byTitle.get(old.title) ?? []).find((one) => left.has(one) && isSame(old, one));
      if (now) {
        left.delete(now);
        yield [old, now];
      } else rest.push(old);
    }
    alone = rest;
  }
  for (const old of alone) yield [old, null];
  for (const now of left) yield [null, now];
}

/** Judges what is only in one of the states. */
function judgeUnpaired(only: Printed, isGone: boolean, texts: string): TestDifference[] {
  const { kind, title, lines } = only;
  const told = (strength: Strength) => [
    differenceOf(only, strength, isGone ? lines : [], isGone ? [] : lines),
  ];
  if (kind === 'test') return told(isGone ? 'weaker' : 'new');
  // Code that no test uses may come and go, unless tests call something with its name that could not be resolved.
  if (kind === 'unused')
    return new RegExp(String.raw`[.#\s(]${title.replaceAll(/\W/g, '.')}\b`).test(texts)
      ? told('different')
      : [];
  if (lines.length === 0) return [];
  return told(isGone ? 'weaker' : only.key.startsWith('block ') ? 'new' : 'different');
}

function differenceOf(
  { title, file, line }: Printed,
  strength: Strength,
  before: readonly Line[],
  after: readonly Line[],
): TestDifference {
  const place = after[0] ?? before[0] ?? { file, line };
  const shown = (lines: readonly Line[]) => lines.map(({ text, locators }) => spell(text, locators));
  return {
    test: title,
    file: place.file,
    line: place.line,
    strength,
    before: shown(before),
    after: shown(after),
  };
}

const restriction = /^(?:test|‹1›|test\.info\(\))\.(?:skip|fixme|fail|only|slow)\b/;
const asserts = ({ text }: Line) => /\bexpect(?:\.\w+)?\(/.test(text);
const opens = ({ text }: Line) =>
  /^(?:if|for|while|dowhile|try|forin|\} catch|beforeAll|afterAll)\b.*\{$/.test(text);

/** Compares steps that were replaced by others. A brace that has only moved is never weaker or stronger. */
function strengthOf(olds: readonly Line[], news: readonly Line[]): Strength {
  const [before, after] = [olds, news].map((lines) => lines.filter(({ text }) => text !== '}'));
  if (!before || !after || before.length + after.length === 0) return 'different';
  const count = (lines: readonly Line[], is: (line: Line) => boolean) => lines.filter(is).length;
  const isMore = (is: (line: Line) => boolean) => count(after, is) > count(before, is);
  if (
    isMore(({ text }) => restriction.test(text)) ||
    isMore(opens) ||
    count(before, asserts) > count(after, asserts)
  )
    return 'weaker';
  if (before.length === 0 && after.every(({ text, locators }) => isCheck(text) && locators.every(isPlain)))
    return 'stronger';
  if (after.length === 0 && before.every(({ text }) => restriction.test(text))) return 'stronger';
  const [old, now] = [before, after].map((lines) =>
    lines.length === 1 ? assertionIn(lines[0]?.text ?? '') : null,
  );
  if (!old || !now || old.subject !== now.subject) return 'different';
  if (now.via === '.soft' && old.via === '') return 'weaker';
  if (old.negated || now.negated || old.via !== now.via) return 'different';
  const isAbove = (a: string, b: string) => (above[a] ?? []).includes(b);
  if (isAbove(old.matcher, now.matcher)) return 'weaker';
  return isAbove(now.matcher, old.matcher) && (old.expected === now.expected || old.expected === '')
    ? 'stronger'
    : 'different';
}

/** For each matcher, those that check less. */
const above: Readonly<Record<string, readonly string[]>> = {
  toHaveText: ['toContainText', 'toBeVisible', 'toBeAttached'],
  toContainText: ['toBeVisible', 'toBeAttached'],
  toHaveValue: ['toBeVisible', 'toBeAttached'],
  toHaveCount: ['toBeVisible', 'toBeAttached'],
  toBeVisible: ['toBeAttached'],
  toBe: ['toEqual', 'toMatchObject', 'toContain', 'toBeTruthy', 'toBeDefined'],
  toEqual: ['toMatchObject', 'toBeTruthy', 'toBeDefined'],
  toStrictEqual: ['toEqual', 'toMatchObject', 'toBeTruthy', 'toBeDefined'],
};

function assertionIn(text: string) {
  const [, via = '', subject = '', not, matcher = '', expected = ''] =
    /^(?:await )?expect(\.\w+)?\((.*?)\)(\.not)?\.(to\w+)\((.*)\)$/.exec(text) ?? [];
  return matcher === '' ? null : { via, subject, negated: not !== undefined, matcher, expected };
}

/** Whether a step is a web-first assertion, or a wait for a locator or an address, that gives no more time than usual. */
function isCheck(text: string): boolean {
  const [, asserted, waited] =
    /^await (?:expect\((?:‹locator›|page)\)(?:\.not)?\.to(?!Pass|HaveScreenshot|Match)\w+\((.*)\)|(?:‹locator›\.waitFor|page\.waitForURL)\((.*)\))$/.exec(
      text,
    ) ?? [];
  const told = asserted ?? waited;
  const timeout = /\btimeout: ([^,} ]+)/.exec(told ?? '')?.[1] ?? '0';
  return (
    told !== undefined &&
    !/\bawait\b|=>/.test(told) &&
    Number(timeout) <= (asserted === undefined ? 30_000 : 5000)
  );
}

const isPlain = ({ root }: LocatorText) => root === '' || /^‹\d|^\w+$/.test(root);

/** Whether a step also passes if its locators find nothing. */
function isAbsence(text: string): boolean {
  return /\)\.not\.to|\.toBeHidden\(|\.toHaveCount\(0|state: "(?:hidden|detached)"|^for \(each of/.test(text);
}

/** Whether a step asserts that its locator finds something, and so the text that the locator looks for. */
const isPresence = /\.to(?:BeVisible|BeAttached|BeInViewport)\(|^await ‹locator›\.waitFor\(/;
const isCounted = /\.toHaveCount\(|\.to\w+\(\[/;
/** Counts what leaves out some of the elements that a locator would find. */
const narrowings = ({ code }: LocatorText) =>
  code.match(/\bhas(?:Not)?(?:Text)?\b|\.(?:and|first|last|nth)\(/g)?.length ?? 0;

/** Whether each locator asserts as much as the one that it replaced. */
function isSameLook(old: Line, now: Line, proven: readonly LocatorChange[]): boolean {
  const expected = /\.to\w+\("(.{2,}?)"/.exec(now.text)?.[1];
  // Locators that are passed to a matcher are part of the expectation.
  const [subject = ''] = now.text.split(/\)(?:\.not)?\.to[A-Z]/);
  const subjects = subject.match(/‹locator›/g)?.length ?? 0;
  return old.locators.every((was, index) => {
    const is = now.locators[index];
    if (!is || (is.code === was.code && is.root === was.root)) return true;
    if (index >= subjects) return false;
    const asked = (one: LocatorText) =>
      one.texts.some(
        (text) => expected !== undefined && (text.includes(expected) || expected.includes(text.slice(1, -1))),
      );
    const [olds, news] = [was, is].map(({ texts }) => numbersOf(texts.join(' ')));
    const lacks = (a: LocatorText, b: LocatorText) => a.texts.some((text) => !b.texts.includes(text));
    return (
      is.root === was.root &&
      (!is.anything || was.anything) &&
      is.alternatives <= was.alternatives &&
      (!asked(is) || asked(was)) &&
      (olds === '' || news === '' || olds === news) &&
      !(isPresence.test(old.text) && lacks(was, is)) &&
      !(isCounted.test(old.text) && (lacks(was, is) || narrowings(is) > narrowings(was))) &&
      (!isAbsence(old.text) || isProven(was.code, is.code, proven))
    );
  });
}

/** Whether another step, which fails if it finds nothing, has the same replacement, or one inside of the locator. */
function isProven(old: string, now: string, proven: readonly LocatorChange[]): boolean {
  return proven.some(
    (one) =>
      (one.old === old && one.now === now) ||
      (one.old.startsWith(`${old}.`) && one.now === now + one.old.slice(old.length)),
  );
}

function changesIn([old, now]: Pair): LocatorChange[] {
  return old.locators.flatMap(({ code }, index) => {
    const is = now.locators[index]?.code;
    return is === undefined || is === code
      ? []
      : [{ old: code, now: is, file: now.file, line: now.line, step: now.text }];
  });
}
