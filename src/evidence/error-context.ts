import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { bounds } from './bounds.js';

/** An accessibility snapshot from Playwright's error-context.md. */
export interface PageSnapshot {
  readonly yaml: string;
  /** False if it shows only the element that a matcher looked at, which is all that Playwright ≥1.59 writes in that case. */
  readonly ofPage: boolean;
}

/** Reads the snapshot of an error-context.md; null if it has none. Rejects if the file cannot be read. */
export async function readErrorContext(path: string): Promise<PageSnapshot | null> {
  return pageSnapshotIn(await text(createReadStream(path, { end: bounds.errorContext - 1 })));
}

/**
 * Extracts only the accessibility snapshot from an error-context document and leaves out Playwright's instructions to AI
 * readers (EV-10).
 */
export function pageSnapshotIn(markdown: string): PageSnapshot | null {
  const page = yamlBelow(markdown, '# Page snapshot');
  if (page !== null) return { yaml: withoutReferences(page), ofPage: true };
  const element = yamlBelow(markdown, '# Error details');
  return element === null ? null : { yaml: withoutReferences(element), ofPage: false };
}

/**
 * Removes what Playwright adds for AI readers that drive the page: references to elements, cursors, and elements that have nothing but
 * children.
 */
function withoutReferences(yaml: string): string {
  const lines: string[] = [];
  /** The indents of the containers around a line, which are left out. */
  let dropped: number[] = [];
  for (const line of yaml.split('\n')) {
    const indent = line.search(/\S|$/);
    dropped = dropped.filter((one) => one < indent);
    const text = line.slice(indent).replaceAll(/ \[(?:ref=\w+|cursor=\w+|active)\]/g, '');
    if (text === '- generic:') dropped.push(indent);
    else lines.push(' '.repeat(indent - 2 * dropped.length) + text.replace(/^- generic: /, '- text: '));
  }
  return lines.join('\n');
}

function yamlBelow(markdown: string, heading: string): string | null {
  const lines = markdown.split(/\r?\n/);
  // The last match: the error's own text, which comes earlier, may contain the same line.
  const start = lines.lastIndexOf(heading);
  if (start < 0) return null;
  const next = lines.findIndex((line, at) => at > start && /^# (?:Test source|Page snapshot)$/.test(line));
  const section = lines.slice(start + 1, next < 0 ? lines.length : next);
  const open = section.lastIndexOf('```yaml');
  if (open < 0) return null;
  const close = section.indexOf('```', open + 1);
  return section.slice(open + 1, close < 0 ? section.length : close).join('\n');
}
