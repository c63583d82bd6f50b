/** What may change in a flaky test (FL-3): how it waits, and what it shares with others. All texts are steps in canonical form. */

/** The one-shot reads of a locator that Playwright has a web-first assertion for. */
const states: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  isVisible: ['toBeVisible()', 'not.toBeVisible()'],
  isHidden: ['toBeHidden()', 'toBeVisible()'],
  isEnabled: ['toBeEnabled()', 'toBeDisabled()'],
  isDisabled: ['toBeDisabled()', 'toBeEnabled()'],
  isEditable: ['toBeEditable()', 'not.toBeEditable()'],
  isChecked: ['toBeChecked()', 'not.toBeChecked()'],
};
const values: Readonly<Record<string, string>> = {
  textContent: 'toHaveText',
  innerText: 'toHaveText',
  allTextContents: 'toHaveText',
  allInnerTexts: 'toHaveText',
  inputValue: 'toHaveValue',
  count: 'toHaveCount',
};
const ofPage: Readonly<Record<string, string>> = {
  'page.url()': 'toHaveURL',
  'await page.title()': 'toHaveTitle',
};

const oneShot =
  /^expect\((?:await ‹locator›\.(\w+)\((.*?)\)|(page\.url\(\)|await page\.title\(\)))\)(\.not)?\.(to\w+)\((.*)\)$/;

/** Returns the web-first form of a one-shot check, which waits for the same; null for any other step. */
export function webFirstForm(step: string): string | null {
  const [, read = '', given = '', page, not = '', matcher = '', expected = ''] = oneShot.exec(step) ?? [];
  const isExact = /^to(?:Be|Equal|StrictEqual)$/.test(matcher);
  const isPart = /^to(?:Contain|Match)$/.test(matcher) && !read.startsWith('all');
  if (page !== undefined)
    return isExact || matcher === 'toMatch' ? `await expect(page)${not}.${ofPage[page]}(${expected})` : null;
  const [yes, no] = states[read] ?? [];
  const isTrue = matcher === 'toBeTruthy' || (isExact && expected === 'true');
  const isFalse = matcher === 'toBeFalsy' || (isExact && expected === 'false');
  if (yes !== undefined && given === '' && (isTrue || isFalse))
    return `await expect(‹locator›).${isTrue === (not === '') ? yes : no}`;
  const value = values[read];
  const told = value === 'toHaveText' && isPart && !expected.startsWith('/') ? 'toContainText' : value;
  if (value && given === '' && (isExact || (isPart && value === 'toHaveText')))
    return `await expect(‹locator›)${not}.${told}(${expected})`;
  return null;
}

/** Whether a step is the one that it replaces, but waits: it awaits what was not awaited, or is the web-first form of a one-shot check. */
export function isSettled(old: string, now: string): boolean {
  return (!old.startsWith('await ') && now === `await ${old}`) || webFirstForm(old) === now;
}

/** What differs between tests, or between runs of one. */
const own = String.raw`(?:(?:‹\d+›|test\.info\(\))\.(?:workerIndex|parallelIndex|testId|repeatEachIndex)|process\.env\.TEST_(?:WORKER|PARALLEL)_INDEX|(?:[\w:]+[#.])?randomUUID\(\))`;
const text = String.raw`"(?:[^"\\]|\\.)*"`;
const within = String.raw`(?:[^\`$\\]|\$\{${own}\})*`;
/** A text with such a thing in it, and nothing else that could be anything. */
const ownText = String.raw`(?:\`${within}\$\{${own}\}${within}\`|(?:‹\d+›|test\.info\(\))\.outputPath\(${text}\)|${text} \+ ${own}(?: \+ ${text})?|${own})`;
const isOwnText = new RegExp(`^${ownText}$`);
const texts = new RegExp(String.raw`${ownText}|${text}|\`(?:[^\`\\]|\\.)*\``, 'g');

/** Returns which texts a step has of its own where the one that it replaces shared them: old text and new; null if more differs. */
export function madeOwn(old: string, now: string): readonly (readonly [old: string, now: string])[] | null {
  if (old.replaceAll(texts, '""') !== now.replaceAll(texts, '""')) return null;
  const its = now.match(texts) ?? [];
  const made = (old.match(texts) ?? [])
    .map((was, at) => [was, its[at] ?? ''] as const)
    .filter(([was, is]) => was !== is);
  return made.length > 0 && made.every(([, is]) => isOwnText.test(is)) ? made : null;
}

/** Steps that take something away which a test leaves behind, or another left to it, and can make nothing that a test looks for. */
const tidying: readonly RegExp[] = [
  /^(?:await )?node:fs(?:\/promises)?#(?:promises\.)?(?:rm|unlink|truncate)(?:Sync)?\((["`].*?["`])(?:, \{[\w: ,]*\})?\)$/,
  /^(?:await )?node:fs(?:\/promises)?#(?:promises\.)?writeFile(?:Sync)?\((["`].*?["`]), ""\)$/,
  /^delete globalThis\.(\w+)$/,
  /^\(globalThis\.(\w+) = (?:0|""|null|undefined|false|\[\]|\{\})\)$/,
  /^(?:await )?[\w./#:@-]+\.(?:run|exec|execute|query)\("(?:delete from|truncate(?: table)?) ([\w."]+)(?: where [^;]*)?;?"\)$/i,
  /^(?:await )?[\w./#:@-]+[#.]((?:clear|reset|clean|empty|truncate)\w*)\((?:‹\d+›)?\)$/i,
];

/** Whether a step only takes away what the tests name already. */
export function isTidying(step: string, tests: string): boolean {
  const named = tidying.flatMap((one) => one.exec(step)?.[1] ?? [])[0];
  return named !== undefined && tests.includes(named);
}

const hiding: readonly (readonly [RegExp, string])[] = [
  [
    /\bwaitForTimeout\(|(?<!test\.|info\(\)\.)\bset(?:Timeout|Interval)\(|#setTimeout\b|\bsleep\w*\(|\bdelay\w*\(|Atomics\.wait/i,
    'it sleeps',
  ],
  [/\btimeout: |\bsetTimeout\(|\bslow\(|\bsetDefault\w*Timeout\(/, 'it raises a time-out'],
  [/\bretries: |\bretry\b|\btoPass\(/, 'it tries again until it passes'],
  [/mode: "serial"|\.serial\b/, 'it runs tests one after the other'],
  [/\.(?:skip|fixme|fail|only)\b/, 'it leaves the test out'],
  [/\bexpect\.soft\b/, 'it asserts softly'],
  [/"networkidle"/, 'it waits for silence on the network'],
  [/\bcatch\b/, 'it swallows errors'],
];

/** Says how a change hides a flake instead of removing it; null if it does not. */
export function hidesFlake(before: readonly string[], after: readonly string[]): string | null {
  const count = (steps: readonly string[], what: RegExp) => steps.filter((one) => what.test(one)).length;
  return hiding.find(([what]) => count(after, what) > count(before, what))?.[1] ?? null;
}
