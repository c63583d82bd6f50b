import { printTree } from './locators.js';
import { parseSource, type SourceFile } from './source-file.js';
import {
  getCallee,
  readName,
  getNode,
  getNodes,
  listNodes,
  getProperty,
  type SyntaxNode,
  unwrap,
} from './syntax.js';

/** Converts one-shot checks to assertions that wait (FL-3): the fixer writes them, and the guard allows them. */

/** The one-shot reads of a locator that Playwright has a web-first assertion for. */
const stateAssertions: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  isVisible: ['toBeVisible()', 'not.toBeVisible()'],
  isHidden: ['toBeHidden()', 'toBeVisible()'],
  isEnabled: ['toBeEnabled()', 'toBeDisabled()'],
  isDisabled: ['toBeDisabled()', 'toBeEnabled()'],
  isEditable: ['toBeEditable()', 'not.toBeEditable()'],
  isChecked: ['toBeChecked()', 'not.toBeChecked()'],
};
const valueAssertions: Readonly<Record<string, string>> = {
  textContent: 'toHaveText',
  innerText: 'toHaveText',
  allTextContents: 'toHaveText',
  allInnerTexts: 'toHaveText',
  inputValue: 'toHaveValue',
  count: 'toHaveCount',
};
const pageAssertions: Readonly<Record<string, string>> = {
  'page.url()': 'toHaveURL',
  'await page.title()': 'toHaveTitle',
};

const oneShot =
  /^expect\((?:await ‹locator›\.(\w+)\((.*?)\)|(page\.url\(\)|await page\.title\(\)))\)(\.not)?\.(to\w+)\((.*)\)$/;

/** Returns the web-first form of a one-shot check, which waits for the same state; null for any other step. */
function findWebFirstForm(step: string): string | null {
  const [, read = '', options = '', page, not = '', matcher = '', expected = ''] = oneShot.exec(step) ?? [];
  const isExact = /^to(?:Be|Equal|StrictEqual)$/.test(matcher);
  const isPartial = /^to(?:Contain|Match)$/.test(matcher) && !read.startsWith('all');
  if (page !== undefined)
    return isExact || matcher === 'toMatch'
      ? `await expect(page)${not}.${pageAssertions[page]}(${expected})`
      : null;
  const [yes, no] = stateAssertions[read] ?? [];
  const isTrue = matcher === 'toBeTruthy' || (isExact && expected === 'true');
  const isFalse = matcher === 'toBeFalsy' || (isExact && expected === 'false');
  if (yes !== undefined && options === '' && (isTrue || isFalse))
    return `await expect(‹locator›).${isTrue === (not === '') ? yes : no}`;
  const assertion = valueAssertions[read];
  const matcherName =
    assertion === 'toHaveText' && isPartial && !expected.startsWith('/') ? 'toContainText' : assertion;
  if (assertion && options === '' && (isExact || (isPartial && assertion === 'toHaveText')))
    return `await expect(‹locator›)${not}.${matcherName}(${expected})`;
  return null;
}

/** Returns the `expect` call of a matcher. */
export function findExpect(call: SyntaxNode): SyntaxNode | null {
  const object = getNode(getCallee(call), 'object');
  if (!object) return null;
  if (getProperty(object) === 'not') return findExpect({ ...call, callee: object });
  return object.type === 'CallExpression' && readName(getCallee(object)) === 'expect' ? object : null;
}

/** Returns the code of a one-shot check as a web-first assertion; null for any other call. */
export function createWebFirstCode(call: SyntaxNode, { text }: Pick<SourceFile, 'text'>): string | null {
  const expectCall = findExpect(call);
  const checked = expectCall && getNodes(expectCall, 'arguments')[0];
  if (!checked) return null;
  const read = (checked.type === 'AwaitExpression' && getNode(checked, 'argument')) || checked;
  const locator = read.type === 'CallExpression' ? getNode(getCallee(read), 'object') : null;
  if (!locator) return null;
  const code = text.slice(locator.start, locator.end);
  const step =
    code === 'page'
      ? text.slice(call.start, call.end)
      : `${text.slice(call.start, locator.start)}‹locator›${text.slice(locator.end, call.end)}`;
  const quoted = step.replaceAll(/'((?:[^'\\"]|\\.)*)'/g, '"$1"').replaceAll(/\s*\n\s*/g, '');
  return findWebFirstForm(quoted)?.replace('‹locator›', () => code) ?? null;
}

/** True if a statement only adds waiting to the one that it replaces: an `await`, or the web-first form of a one-shot check. */
export function onlyAddsWaiting(old: SyntaxNode, now: SyntaxNode, source: SourceFile): boolean {
  const [before, after] = [old, now].map((statement) => getNode(statement, 'expression'));
  if (!before || after?.type !== 'AwaitExpression') return false;
  if (printTree(getNode(after, 'argument') ?? after) === printTree(before)) return true;
  const form = createWebFirstCode(unwrap(before), source);
  const program = form === null ? undefined : parseSource('step.mts', form)?.program;
  return program !== undefined && printTree(getNodes(program, 'body')[0] ?? program) === printTree(now);
}

/** True if a statement only waits: a web-first assertion, or a wait for a locator or a URL, with the default timeout. */
export function isWait(statement: SyntaxNode): boolean {
  const awaited = getNode(statement, 'expression');
  const call = awaited?.type === 'AwaitExpression' ? getNode(awaited, 'argument') : null;
  const method = getProperty(getCallee(call)) ?? '';
  const isCheck = call && findExpect(call) ? /^to(?!Pass|HaveScreenshot|Match)/ : /^waitFor(?:URL)?$/;
  return (
    isCheck.test(method) &&
    !listNodes(call).some(
      ({ type, ...node }) =>
        /Function|Await/.test(type) || readName(getNode({ type, ...node }, 'key')) === 'timeout',
    )
  );
}
