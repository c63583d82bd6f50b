import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Redactor } from '../../secrets/redactor.js';
import { removeSignals } from '../../fenced.js';
import { clipMiddle, EvidenceNotes } from '../bounded-text.js';
import { markAsData, traceFiles } from '../evidence-files.js';
import type { EvidenceLimits } from '../page-evidence.js';
import {
  type DomElement,
  type DomNode,
  cleanPage,
  checkedState,
  isPageAttribute,
  shadowRoot,
  typedValue,
} from './dom.js';
import { copyMaskedTrace } from './masked-trace.js';
import { readTraceLines } from './read-trace.js';

const MAX_HTML = 256 * 1024;

/** The trace of a failed test, and where to write its files. */
export interface TraceFilesRequest {
  readonly trace: string;
  /** The failure's own folder, which exists. */
  readonly folder: string;
  readonly limits: EvidenceLimits;
  readonly redactor: Redactor;
}

/**
 * Writes masked files of a trace into a failure's folder, for agents and people: the trace itself, for Playwright's own tools, and the page after
 * the failing action. Leaves out files that it cannot mask.
 */
export async function writeTraceFiles({ trace, folder, limits, redactor }: TraceFilesRequest): Promise<void> {
  const clean = (text: string) => removeSignals(redactor.clean(text));
  const notes = new EvidenceNotes(clean);
  await notes.tryGather(traceFiles.trace, async () => {
    const file = path.join(folder, traceFiles.trace);
    await copyMaskedTrace(trace, file, redactor);
    const { reading } = await readTraceLines({ file, limits, notes });
    const page = reading.pages.findPageAtFailure();
    if (page === null) return;
    const text = `<!-- ${page.url} -->\n${renderPageHtml(cleanPage(page.root, clean), MAX_HTML)}`;
    const content = markAsData(clipMiddle(clean(text), MAX_HTML).text, traceFiles.html);
    writeFileSync(path.join(folder, traceFiles.html), content);
  });
}

const voidElements = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/**
 * A longer attribute, such as an inline picture or an SVG path, does not help a reader. It is dropped as a whole, because half a secret would not
 * be recognized.
 */
const MAX_CHARACTERS = 400;

/** Renders a page as HTML with one element per line, in about `maxLength` characters. */
export function renderPageHtml(root: DomElement, maxLength: number): string {
  const lines: string[] = [];
  let room = maxLength;
  const addLine = (depth: number, text: string): void => {
    room -= depth + text.length + 1;
    if (room > 0) lines.push(' '.repeat(depth) + text);
  };
  const writeNode = (node: DomNode, depth: number): void => {
    if (room <= 0) return;
    if (typeof node === 'string') {
      const text = escapeOnOneLine(node);
      if (text !== '') addLine(depth, text);
      return;
    }
    const start = `<${tagName(node)}${renderAttributes(node)}>`;
    const [only = '', ...others] = node.children;
    if (voidElements.has(node.tag)) addLine(depth, start);
    else if (others.length === 0 && typeof only === 'string')
      addLine(depth, `${start}${escapeOnOneLine(only)}</${tagName(node)}>`);
    else {
      addLine(depth, start);
      for (const child of node.children) writeNode(child, depth + 1);
      addLine(depth, `</${tagName(node)}>`);
    }
  };
  writeNode(root, 0);
  if (room <= 0) lines.push('<!-- the rest of the page was cut -->');
  return lines.join('\n');
}

function tagName({ tag, attributes }: DomElement): string {
  return tag === 'template' && shadowRoot in attributes ? 'shadow-root' : tag;
}

function renderAttributes({ attributes }: DomElement): string {
  const { [typedValue]: typed, [checkedState]: checked, ...others } = attributes;
  const all = {
    ...others,
    ...(typed === undefined ? {} : { value: typed }),
    ...(checked === 'true' ? { checked: '' } : {}),
  };
  return Object.entries(all)
    .filter(([name]) => isPageAttribute(name))
    .map(([name, value]) =>
      value === '' ? ` ${name}` : ` ${name}="${shortenAttribute(value).replaceAll('"', '&quot;')}"`,
    )
    .join('');
}

function escapeOnOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll('<', '&lt;');
}

function shortenAttribute(text: string): string {
  return text.length > MAX_CHARACTERS ? `… ${text.length} characters` : escapeOnOneLine(text);
}
