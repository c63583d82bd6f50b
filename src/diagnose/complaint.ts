import { stripAnsi } from '../visible-text.js';
import { lookAlike } from './look-alike.js';
import type { TestError } from '../model/failure.js';

/** What a test complains about, parsed from Playwright's wording. Absent parts are null. */
export interface Complaint {
  /** `missing`: no such element; `covered`: another element lies over it; `no-answer`: an awaited event or response never came. */
  readonly kind: 'missing' | 'covered' | 'ambiguous' | 'state' | 'value' | 'no-answer' | 'timeout' | 'other';
  /** `locator.click`, `toHaveText`, `page.waitForResponse` … */
  readonly call: string | null;
  /** The awaited locator, URL or event. */
  readonly subject: string | null;
  /** The covering element, the state, or `expected … received …`. */
  readonly detail: string | null;
}

const timeLimit =
  /^(?:Error: )?(?:Test timeout of \d+ ?ms exceeded|"\w+" hook timeout of \d+ ?ms exceeded|Test finished within timeout)/;
const wait =
  /^(?:\w*Error: )?(?:page|frame|browserContext|context)\.waitFor(?:Response|Request|Event|URL|Navigation|LoadState)\b|^(?:\w*Error: )?Timeout .{0,40} while waiting for event/;
const unfinished =
  /^(?:\w*Error: )?(?:locator|page|frame|elementHandle|frameLocator|mouse|keyboard)\.(?!goto|waitFor|evaluate|reload|goBack|goForward)\w+: (?:Test t|T)imeout|^(?:Error: )?\w+ .{1,300} had not finished/;

/**
 * Returns the errors that say what failed, most specific first. "Test timeout exceeded" only says that another of them took too
 * long, and a wait for a response fails if the action that should have triggered it has not finished.
 */
export function tellingErrors(errors: readonly TestError[]): readonly TestError[] {
  const specific = errors.filter(({ message }) => !timeLimit.test(stripAnsi(message).trim()));
  if (specific.length === 0) return errors;
  const actions = specific.filter(({ message }) => unfinished.test(stripAnsi(message)));
  if (actions.length === 0) return specific;
  return [
    ...actions,
    ...specific.filter((error) => !actions.includes(error) && !wait.test(stripAnsi(error.message))),
  ];
}

/** Parses the complaint from a failure's errors. */
export function complaintOf(errors: readonly TestError[]): Complaint {
  const [error] = tellingErrors(errors);
  if (!error) return { kind: 'other', call: null, subject: null, detail: null };
  const text = stripAnsi(error.message).slice(0, longest);
  const call = callIn(text);
  const subject = locatorIn(text) ?? firstIn(text, addresses) ?? waitedFor(error, call);
  return { call, subject, ...complaintKind(text, call) };
}

const longest = 16_000;
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

function firstIn(text: string, patterns: readonly RegExp[]): string | null {
  const match = patterns.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);
  return match?.trim() ?? null;
}

/** Returns the locator that an error waited for, or null. */
export function locatorIn(text: string): string | null {
  return firstIn(text, locators);
}

/** A predicate cannot be printed, so what the test waits for is read from its source line. */
function waitedFor(error: TestError, call: string | null): string | null {
  if (!call?.includes('waitFor')) return null;
  const argument = /waitFor\w+\((.{1,200})$/.exec(markedLine(error) ?? '')?.[1];
  return argument?.replace(/\)[;,]*\s*$/, '').trim() || null;
}

/** Returns the source line that an error's excerpt marks, or null. */
export function markedLine({ snippet }: Pick<TestError, 'snippet'>): string | null {
  return /^[ \t]*>[ \t]*\d+[ \t]*[|│┃](.*)$/m.exec(stripAnsi(snippet ?? ''))?.[1]?.trim() ?? null;
}

function callIn(text: string): string | null {
  return (
    /^(?:\w*Error: )?((?:locator|page|frame|elementHandle|frameLocator|browserContext|apiRequestContext|mouse|keyboard)\.\w{1,40}): /m.exec(
      text,
    )?.[1] ??
    /\bexpect\((?:\w|\.){0,30}\)\.((?:not\.)?\w{1,40})/.exec(text)?.[1] ??
    /^(?:Error: )?(\w+) (?:locator|getBy\w{1,20}|frameLocator)\(.{1,300}? had not finished/.exec(text)?.[1] ??
    null
  );
}

function complaintKind(text: string, call: string | null): Pick<Complaint, 'kind' | 'detail'> {
  const cover = coverIn(text);
  if (cover !== null) return { kind: 'covered', detail: cover };
  const several = /strict mode violation: .{1,300} resolved to (\d+) elements/.exec(text);
  if (several) return { kind: 'ambiguous', detail: `${several[1]} elements` };
  if (/element\(s\) not found/.test(text)) return { kind: 'missing', detail: null };
  const value = valuesIn(text) ?? pixelsIn(text);
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

/** Returns the element that intercepted the pointer, as a selector: `div#veil.modal-backdrop`. */
export function coverIn(text: string): string | null {
  const tag =
    /(?:from )?<([a-z][\w-]{0,60})((?:\s[^<>]{0,500})?)>[^\n]{0,300}? (?:from <([a-z][\w-]{0,60})((?:\s[^<>]{0,500})?)>.{0,300}? subtree )?intercepts pointer events/.exec(
      text,
    );
  if (tag) return selectorOf(tag[3] ?? tag[1] ?? '', tag[4] ?? tag[2] ?? '');
  return /: (\S{1,200}) lies over it/.exec(text)?.[1] ?? null;
}

function selectorOf(name: string, attributes: string): string {
  const id = /\sid="([^"\s]{1,80})"/.exec(attributes)?.[1];
  const classes = /\sclass="([^"]{1,200})"/.exec(attributes)?.[1]?.trim().split(/\s+/).slice(0, 3) ?? [];
  return [name, id ? `#${id}` : '', ...classes.map((className) => `.${className}`)].join('');
}

function valuesIn(text: string): string | null {
  const expected = /^[ \t]*Expected(?: \w+)?:[ \t]*(\S.{0,120})$/m.exec(text)?.[1];
  const received = /^[ \t]*Received(?: \w+)?:[ \t]*(\S.{0,120})$/m.exec(text)?.[1];
  if (expected && received) return compared(expected.trim(), received.trim());
  // Matchers such as `toBeTruthy` state in their name what they expect.
  return differenceIn(text) ?? (received ? `received ${received.trim()}` : null);
}

/** Whether a line holds a value rather than only a bracket. */
function isValue(line: string): boolean {
  return !/^(?:[A-Z]\w{0,40} )?[[{]$|^[\]}]$/.test(line);
}

/** Returns the first line that holds a value, or else the first line. */
function tellingLine(lines: readonly string[]): string | null {
  return lines.find(isValue) ?? lines[0] ?? null;
}

/** Returns the first difference of a comparison that is printed as a diff: the expected line, and the received line of the same name. */
function differenceIn(text: string): string | null {
  const [, indent = '', lines = ''] =
    /^(?:- Expected[^\n]*\n\+ Received[^\n]*|([ \t]*)@@ [^\n]* @@)\n([^]{0,4000})/m.exec(text) ?? [];
  const diff = `\n${lines}`.replaceAll(`\n${indent}`, '\n');
  const [minus, plus] = [
    diffLines(diff, /^-[ \t]*(\S.{0,80})$/gm),
    diffLines(diff, /^\+[ \t]*(\S.{0,80})$/gm),
  ];
  const expected = tellingLine(without(minus, plus)) ?? tellingLine(minus);
  const others = without(plus, minus);
  const named = others.filter((line) => firstWord(line) === firstWord(expected ?? ''));
  const received = named.find(isValue) ?? tellingLine(others) ?? tellingLine(plus);
  if (expected === null && received === null) return null;
  if (expected === received) return `expected ${expected} in another place`;
  return compared(expected ?? 'nothing', received ?? 'nothing');
}

function compared(expected: string, received: string): string {
  const alike = lookAlike(expected, received);
  return `expected ${expected}, received ${received}${alike === null ? '' : ` (${alike})`}`;
}

/** Returns how the values that a test compared differ, if they look the same; else null. */
export function lookAlikeIn(message: string): string | null {
  return (
    /\((they look alike: [^)]*)\)$/.exec(valuesIn(stripAnsi(message).slice(0, longest)) ?? '')?.[1] ?? null
  );
}

function diffLines(diff: string, side: RegExp): string[] {
  return [...diff.matchAll(side)].map(([, line = '']) => line.trim().replace(/,$/, ''));
}

/** Drops the lines that the other side has too. In an accessibility snapshot, a colon at the end only says that children follow. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const bare = (line: string) => line.replace(/:$/, '');
  const known = new Set(others.map(bare));
  return lines.filter((line) => !known.has(bare(line)));
}

/** Returns the first word of a line: a key, or the role of an element. */
function firstWord(line: string): string | null {
  return /[\w$-]*\w/.exec(line)?.[0] ?? null;
}

/** Returns how many pixels of a screenshot differ, or how its size does. */
function pixelsIn(text: string): string | null {
  return /^[ \t]*((?:Expected an image \d|\d+ pixels \(ratio ).{1,150}?)\.?$/m.exec(text)?.[1] ?? null;
}
