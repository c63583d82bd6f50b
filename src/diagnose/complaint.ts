import { stripAnsi } from '../visible-text.js';
import { explainLookAlike } from './look-alike.js';
import type { TestError } from '../model/failure.js';

/** The symptom in Playwright's message, parsed. Absent parts are null. */
export interface Complaint {
  /** `missing`: there is no such element; `covered`: another element covers it; `no-answer`: an awaited event or response never came. */
  readonly kind: 'missing' | 'covered' | 'ambiguous' | 'state' | 'value' | 'no-answer' | 'timeout' | 'other';
  /** `locator.click`, `toHaveText`, `page.waitForResponse` … */
  readonly call: string | null;
  /** The awaited locator, URL or event. */
  readonly subject: string | null;
  /** The covering element, the state, or `expected … received …`. */
  readonly detail: string | null;
}

const timeLimitError =
  /^(?:Error: )?(?:Test timeout of \d+ ?ms exceeded|"\w+" hook timeout of \d+ ?ms exceeded|Test finished within timeout)/;
const waitError =
  /^(?:\w*Error: )?(?:page|frame|browserContext|context)\.waitFor(?:Response|Request|Event|URL|Navigation|LoadState)\b|^(?:\w*Error: )?Timeout .{0,40} while waiting for event/;
const unfinishedAction =
  /^(?:\w*Error: )?(?:locator|page|frame|elementHandle|frameLocator|mouse|keyboard)\.(?!goto|waitFor|evaluate|reload|goBack|goForward)\w+: (?:Test t|T)imeout|^(?:Error: )?\w+ .{1,300} had not finished/;

/**
 * Orders errors from the most to the least specific. "Test timeout exceeded" only means that another step took too long, and a wait for a
 * response also fails if the action that should trigger it has not finished.
 */
export function orderErrors(errors: readonly TestError[]): readonly TestError[] {
  const specific = errors.filter(({ message }) => !timeLimitError.test(stripAnsi(message).trim()));
  if (specific.length === 0) return errors;
  const actions = specific.filter(({ message }) => unfinishedAction.test(stripAnsi(message)));
  if (actions.length === 0) return specific;
  return [
    ...actions,
    ...specific.filter((error) => !actions.includes(error) && !waitError.test(stripAnsi(error.message))),
  ];
}

/** Parses the complaint from a failure's errors. */
export function parseComplaint(errors: readonly TestError[]): Complaint {
  const [error] = orderErrors(errors);
  if (!error) return { kind: 'other', call: null, subject: null, detail: null };
  const text = stripAnsi(error.message).slice(0, MAX_CHARACTERS);
  const call = findCall(text);
  const subject = findLocator(text) ?? findFirstMatch(text, addresses) ?? readAwaitedSubject(error, call);
  return { call, subject, ...classifyComplaint(text, call) };
}

const MAX_CHARACTERS = 16_000;
const locators = [
  /^[ \t]*Locator:[ \t]*(\S.{0,300})$/m,
  /strict mode violation: (.{1,300}) resolved to/,
  /waiting for ((?:locator|getBy\w{1,20}|get_by_\w{1,20}|frameLocator)\(.{1,300}?)(?: to be \w+)?$/m,
  /waiting for selector ["'](.{1,300})["']/,
  /^(?:Error: )?\w+ ((?:locator|getBy\w{1,20}|frameLocator)\(.{1,300}?) had not finished/,
];
const addresses = [
  /waiting for (?:response|request|navigation to|event) ["']?([^"'\n]{1,300}?)["']?(?: until .*)?$/m,
  /navigating to ["']?([^"'\s,]{1,300})/,
];

function findFirstMatch(text: string, patterns: readonly RegExp[]): string | null {
  const match = patterns.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);
  return match?.trim() ?? null;
}

/** Returns the locator that an error waited for, or null. */
export function findLocator(text: string): string | null {
  return findFirstMatch(text, locators);
}

/** Reads the awaited URL or event from the test's source line, because Playwright cannot print a predicate. */
function readAwaitedSubject(error: TestError, call: string | null): string | null {
  if (!call?.includes('waitFor')) return null;
  const argument = /waitFor\w+\((.{1,200})$/.exec(findMarkedLine(error) ?? '')?.[1];
  return argument?.replace(/\)[;,]*\s*$/, '').trim() || null;
}

/** Returns the marked source line of an error's excerpt, or null. */
export function findMarkedLine({ snippet }: Pick<TestError, 'snippet'>): string | null {
  return /^[ \t]*>[ \t]*\d+[ \t]*[|│┃](.*)$/m.exec(stripAnsi(snippet ?? ''))?.[1]?.trim() ?? null;
}

function findCall(text: string): string | null {
  return (
    /^(?:\w*Error: )?((?:locator|page|frame|elementHandle|frameLocator|browserContext|apiRequestContext|mouse|keyboard)\.\w{1,40}): /m.exec(
      text,
    )?.[1] ??
    /\bexpect\((?:\w|\.){0,30}\)\.((?:not\.)?\w{1,40})/.exec(text)?.[1] ??
    /^(?:Error: )?(\w+) (?:locator|getBy\w{1,20}|frameLocator)\(.{1,300}? had not finished/.exec(text)?.[1] ??
    null
  );
}

function classifyComplaint(text: string, call: string | null): Pick<Complaint, 'kind' | 'detail'> {
  const cover = findCoveringElement(text);
  if (cover !== null) return { kind: 'covered', detail: cover };
  const several = /strict mode violation: .{1,300} resolved to (\d+) elements/.exec(text);
  if (several) return { kind: 'ambiguous', detail: `${several[1]} elements` };
  if (/element\(s\) not found/.test(text)) return { kind: 'missing', detail: null };
  const value = describeValues(text) ?? describePixels(text);
  if (value !== null) return { kind: 'value', detail: value };
  const state =
    /element is not (visible|enabled|stable|editable|attached)|element is outside of the (viewport)/.exec(
      text,
    );
  if (state) return { kind: 'state', detail: state[2] ? 'outside of the viewport' : `not ${state[1]}` };
  const awaited = /^.* to be (visible|hidden|detached)\n[^\n]*\blocator resolved to /m.exec(text);
  if (awaited) return { kind: 'state', detail: `not ${awaited[1]}` };
  if (call !== null && /\.waitFor(?!Selector$)\w/.test(call)) return { kind: 'no-answer', detail: null };
  const timedOut = /[Tt]imeout|had not finished|: Test ended/.test(text);
  if (timedOut && /waiting for (?:locator|getBy|selector|frameLocator)/.test(text))
    return { kind: /locator resolved to/.test(text) ? 'timeout' : 'missing', detail: null };
  return { kind: timedOut ? 'timeout' : 'other', detail: null };
}

/** Returns the covering element as a selector: `div#veil.modal-backdrop`. */
export function findCoveringElement(text: string): string | null {
  const tag =
    /(?:from )?<([a-z][\w-]{0,60})((?:\s[^<>]{0,500})?)>[^\n]{0,300}? (?:from <([a-z][\w-]{0,60})((?:\s[^<>]{0,500})?)>.{0,300}? subtree )?intercepts pointer events/.exec(
      text,
    );
  if (tag) return formatSelector(tag[3] ?? tag[1] ?? '', tag[4] ?? tag[2] ?? '');
  return /: (\S{1,200}) covers it/.exec(text)?.[1] ?? null;
}

function formatSelector(name: string, attributes: string): string {
  const id = /\sid="([^"\s]{1,80})"/.exec(attributes)?.[1];
  const classes = /\sclass="([^"]{1,200})"/.exec(attributes)?.[1]?.trim().split(/\s+/).slice(0, 3) ?? [];
  return [name, id ? `#${id}` : '', ...classes.map((className) => `.${className}`)].join('');
}

function describeValues(text: string): string | null {
  const expected = /^[ \t]*Expected(?: \w+)?:[ \t]*(\S.{0,120})$/m.exec(text)?.[1];
  const received = /^[ \t]*Received(?: \w+)?:[ \t]*(\S.{0,120})$/m.exec(text)?.[1];
  if (expected && received) return describeComparison(expected.trim(), received.trim());
  // The name of a matcher such as `toBeTruthy` already says what it expects.
  return findDifference(text) ?? (received ? `received ${received.trim()}` : null);
}

/** True if a line holds a value rather than only a bracket. */
function isValue(line: string): boolean {
  return !/^(?:[A-Z]\w{0,40} )?[[{]$|^[\]}]$/.test(line);
}

/** Returns the first line that holds a value, or else the first line. */
function findFirstValueLine(lines: readonly string[]): string | null {
  return lines.find(isValue) ?? lines[0] ?? null;
}

/** Returns the first difference in a printed diff: the expected line, and the received line with the same key. */
function findDifference(text: string): string | null {
  const [, indent = '', lines = ''] =
    /^(?:- Expected[^\n]*\n\+ Received[^\n]*|([ \t]*)@@ [^\n]* @@)\n([^]{0,4000})/m.exec(text) ?? [];
  const diff = `\n${lines}`.replaceAll(`\n${indent}`, '\n');
  const [minus, plus] = [
    listDiffLines(diff, /^-[ \t]*(\S.{0,80})$/gm),
    listDiffLines(diff, /^\+[ \t]*(\S.{0,80})$/gm),
  ];
  const expected = findFirstValueLine(dropCommonLines(minus, plus)) ?? findFirstValueLine(minus);
  const others = dropCommonLines(plus, minus);
  const withSameKey = others.filter((line) => getFirstWord(line) === getFirstWord(expected ?? ''));
  const received = withSameKey.find(isValue) ?? findFirstValueLine(others) ?? findFirstValueLine(plus);
  if (expected === null && received === null) return null;
  if (expected === received) return `expected ${expected} in another place`;
  return describeComparison(expected ?? 'nothing', received ?? 'nothing');
}

function describeComparison(expected: string, received: string): string {
  const explanation = explainLookAlike(expected, received);
  return `expected ${expected}, received ${received}${explanation === null ? '' : ` (${explanation})`}`;
}

/** Explains the difference between compared values that look the same; null if they look different. */
export function findLookAlike(message: string): string | null {
  return (
    /\((they look alike: [^)]*)\)$/.exec(
      describeValues(stripAnsi(message).slice(0, MAX_CHARACTERS)) ?? '',
    )?.[1] ?? null
  );
}

function listDiffLines(diff: string, side: RegExp): string[] {
  return [...diff.matchAll(side)].map(([, line = '']) => line.trim().replace(/,$/, ''));
}

/** Drops lines that both sides have. In an accessibility snapshot, a colon at the end only means that children follow. */
function dropCommonLines(lines: readonly string[], others: readonly string[]): string[] {
  const stripColon = (line: string) => line.replace(/:$/, '');
  const otherLines = new Set(others.map(stripColon));
  return lines.filter((line) => !otherLines.has(stripColon(line)));
}

/** Returns the first word of a line: a key, or the role of an element. */
function getFirstWord(line: string): string | null {
  return /[\w$-]*\w/.exec(line)?.[0] ?? null;
}

/** Describes how many pixels of a screenshot differ, or how its size differs. */
function describePixels(text: string): string | null {
  return /^[ \t]*((?:Expected an image \d|\d+ pixels \(ratio ).{1,150}?)\.?$/m.exec(text)?.[1] ?? null;
}
