import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Redactor } from '../../secrets/redactor.js';
import { withoutSignals } from '../../core/fenced.js';
import { clipMiddle, MissingEvidence } from '../bounded-text.js';
import { asData, traceFiles } from '../evidence-files.js';
import type { EvidenceLimits } from '../page-evidence.js';
import { accessibilityTree } from './accessibility-tree.js';
import {
  type PageDom,
  type DomElement,
  type DomNode,
  cleanPage,
  checkedState,
  isOfPage,
  shadowRoot,
  typedValue,
} from './dom.js';
import { copyMasked } from './masked-trace.js';
import { readLinesOf } from './read-trace.js';
import { type ConsoleEntry, type NetworkEntry, hasFailed, unanswered } from '../../core/evidence.js';
import { isInside, relativePath } from '../../paths.js';
import type { TraceAction } from './trace-actions.js';

const kib = 1024;
const most = { actions: 96 * kib, tree: 64 * kib, html: 256 * kib };

/** The trace of a failed test, and where to write what it shows. */
export interface TraceToShow {
  readonly trace: string;
  /** The failure's own folder, which exists. */
  readonly folder: string;
  /** The project's root, to which places in the code are relative. */
  readonly root: string;
  readonly limits: EvidenceLimits;
  readonly redactor: Redactor;
}

/**
 * Writes what a trace shows as masked files into a failure's folder, for agents and people: the trace itself for Playwright's own tools, and
 * what is in it: what the test did and saw, and its page before and after the action at which it failed. What cannot be masked is left out.
 */
export async function writeTraceFiles({ trace, folder, root, limits, redactor }: TraceToShow): Promise<void> {
  const clean = (text: string) => withoutSignals(redactor.clean(text));
  const missing = new MissingEvidence(clean);
  const write = (name: string, text: string, bytes: number) =>
    writeFileSync(path.join(folder, name), asData(clipMiddle(clean(text), bytes).text, name));
  await missing.attempt(traceFiles.trace, async () => {
    const file = path.join(folder, traceFiles.trace);
    await copyMasked(trace, file, redactor);
    const { reading, requests } = await readLinesOf({ file, limits, missing });
    const { actions, pages } = reading;
    const console = reading.console.take(missing);
    const happened = { actions: actions.all, failing: actions.failing(), console, network: requests };
    write(traceFiles.actions, actionList(happened, root), most.actions);
    const writePage = (page: PageDom | null, names: { tree: string | null; html: string }) => {
      if (page === null) return;
      const cleaned = cleanPage(page.root, clean);
      if (names.tree !== null) write(names.tree, accessibilityTree(cleaned), most.tree);
      write(names.html, `<!-- ${page.url} -->\n${pageHtml(cleaned, most.html)}`, most.html);
    };
    writePage(pages.before(), { tree: traceFiles.treeBefore, html: traceFiles.htmlBefore });
    // Its accessibility tree is part of the evidence.
    writePage(pages.after(), { tree: null, html: traceFiles.html });
  });
}

const voids = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/** A longer attribute is no use to a reader: a picture as data, the path of a drawing. It is left out whole: half a secret is not recognized. */
const longest = 400;

/** Renders a page as HTML with one element a line, up to about `most` characters. What was typed into password fields is left out. */
export function pageHtml(root: DomElement, most: number): string {
  const lines: string[] = [];
  let room = most;
  const line = (depth: number, text: string): void => {
    room -= depth + text.length + 1;
    if (room > 0) lines.push(' '.repeat(depth) + text);
  };
  const write = (node: DomNode, depth: number): void => {
    if (room <= 0) return;
    if (typeof node === 'string') {
      const text = onOneLine(node);
      if (text !== '') line(depth, text);
      return;
    }
    const start = `<${nameOf(node)}${attributesOf(node)}>`;
    const [only = '', ...others] = node.children;
    if (voids.has(node.tag)) line(depth, start);
    else if (others.length === 0 && typeof only === 'string')
      line(depth, `${start}${onOneLine(only)}</${nameOf(node)}>`);
    else {
      line(depth, start);
      for (const child of node.children) write(child, depth + 1);
      line(depth, `</${nameOf(node)}>`);
    }
  };
  write(root, 0);
  if (room <= 0) lines.push('<!-- the rest of the page was cut -->');
  return lines.join('\n');
}

function nameOf({ tag, attributes }: DomElement): string {
  return tag === 'template' && shadowRoot in attributes ? 'shadow-root' : tag;
}

function attributesOf({ attributes }: DomElement): string {
  const { [typedValue]: typed, [checkedState]: checked, ...others } = attributes;
  const isPassword = attributes['type']?.toLowerCase() === 'password';
  const seen = {
    ...others,
    ...(typed === undefined ? {} : { value: typed }),
    ...(checked === 'true' ? { checked: '' } : {}),
  };
  return Object.entries(seen)
    .filter(([name]) => isOfPage(name) && !(isPassword && name === 'value'))
    .map(([name, value]) =>
      value === '' ? ` ${name}` : ` ${name}="${shortened(value).replaceAll('"', '&quot;')}"`,
    )
    .join('');
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll('<', '&lt;');
}

function shortened(text: string): string {
  return text.length > longest ? `… ${text.length} characters` : onOneLine(text);
}

/** What happened while a test ran. */
export interface Happened {
  readonly actions: readonly TraceAction[];
  /** The action at which the test failed, or null. */
  readonly failing: TraceAction | null;
  readonly console: readonly ConsoleEntry[];
  readonly network: readonly NetworkEntry[];
}

const calls = new Set(['document', 'fetch', 'xhr', 'api', 'websocket', 'eventsource']);
/** An action that took longer tells what it waited for. */
const longMs = 1_000;
const longestText = 500;
const mostErrorLines = 16;

/**
 * Lists in the order of time what a test did and what it saw: its steps with their places and how long they took, requests and the console
 * below the step during which they happened. Of pictures, styles and scripts only those that failed are listed.
 */
function actionList({ actions, failing, console, network }: Happened, root: string): string {
  const began = Math.min(...actions.map(({ startedAt }) => startedAt), ...console.map(({ time }) => time));
  const depths = depthsOf(actions);
  const during = (time: number) =>
    actions.findLast(({ startedAt, endedAt }) => startedAt <= time && time < (endedAt ?? Infinity));
  const line = (time: number, depth: number, text: string) =>
    `${((time - began) / 1000).toFixed(3).padStart(8)} ${'  '.repeat(depth)}${text}`;
  const seen = (time: number, text: string) => {
    const step = during(time);
    return { time, order: 1, text: line(time, step ? (depths.get(step.id) ?? 0) + 1 : 0, text) };
  };
  const shown = [
    ...actions.map((one) => {
      const depth = depths.get(one.id) ?? 0;
      const below = belowOf(one, one === failing).map(
        (text) => `${' '.repeat(9)}${'  '.repeat(depth)}  ${text}`,
      );
      return {
        time: one.startedAt,
        order: 0,
        text: [line(one.startedAt, depth, stepOf(one, { root, isFailing: one === failing })), ...below].join(
          '\n',
        ),
      };
    }),
    ...network
      .filter((one) => calls.has(one.resourceType) || hasFailed(one))
      .map((one) => seen(one.time, requestOf(one))),
    ...console.map(({ time, type, text, location }) =>
      seen(time, `[${type}] ${cut(text)}${location === '' ? '' : ` (${location})`}`),
    ),
  ];
  return shown
    .toSorted((a, b) => a.time - b.time || a.order - b.order)
    .map(({ text }) => text)
    .join('\n');
}

function depthsOf(actions: readonly TraceAction[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  // A step's parent comes before it.
  for (const { id, parent } of actions) depths.set(id, parent === null ? 0 : (depths.get(parent) ?? -1) + 1);
  return depths;
}

function stepOf(
  { title, at, startedAt, endedAt, error }: TraceAction,
  { root, isFailing }: { root: string; isFailing: boolean },
): string {
  const took = endedAt === null ? 'did not end' : `${endedAt - startedAt} ms`;
  const where =
    at === null ? '' : `, ${isInside(root, at.file) ? relativePath(root, at.file) : at.file}:${at.line}`;
  const mark = isFailing ? '  ← the test failed here' : error === null ? '' : '  ✗';
  return `${cut(title)} (${took}${where})${mark}`;
}

function belowOf({ error, log, startedAt, endedAt }: TraceAction, isFailing: boolean): string[] {
  const isTold = isFailing || error !== null || (endedAt ?? Infinity) - startedAt >= longMs;
  const said = (error ?? '').split('\n').filter((text) => text.trim() !== '');
  // An error often ends with the log.
  const more = isTold ? log.filter((text) => !error?.includes(text.trim())) : [];
  return [...said.slice(0, mostErrorLines), ...more].map((text) => `| ${cut(text)}`);
}

function requestOf({ method, url, status, failure, durationMs }: NetworkEntry): string {
  const took = durationMs === null ? '' : ` (${durationMs} ms)`;
  return `${method} ${cut(url)} → ${failure ?? status ?? unanswered}${took}`;
}

function cut(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ⏎ ');
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line;
}
