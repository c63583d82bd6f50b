/** The maximum length of a page in characters: about 1,600 tokens, which leaves room for the data. */
export const PAGE_CHARACTERS = 6_400;

/** Longer lines are broken, because a line must fit into a page with its fence. */
const MAX_LINE = 2_000;

const fence = /^(`{3,})\w*$/;

/**
 * Splits a Markdown text into pages of at most `PAGE_CHARACTERS`. Closes a fenced block at the end of a page and reopens it on the next, because
 * its contents must remain marked as data.
 */
export function splitPages(text: string): string[] {
  const pages: string[] = [];
  let lines: string[] = [];
  let length = 0;
  let openFence: string | null = null;
  const addLine = (line: string) => {
    lines.push(line);
    length += line.length + 1;
  };
  for (const line of text.trimEnd().split('\n').flatMap(breakLine)) {
    const closing = openFence === null ? 0 : openFence.length + 1;
    if (length + line.length + 1 + closing > PAGE_CHARACTERS) {
      pages.push([...lines, ...(openFence === null ? [] : [getFenceMark(openFence)])].join('\n'));
      lines = [];
      length = 0;
      if (openFence !== null) addLine(openFence);
    }
    addLine(line);
    if (openFence === null) openFence = fence.test(line) ? line : null;
    else if (line === getFenceMark(openFence)) openFence = null;
  }
  return [...pages, lines.join('\n')];
}

const getFenceMark = (line: string) => fence.exec(line)?.[1] ?? '```';

function breakLine(line: string): string[] {
  return line.match(new RegExp(`.{1,${MAX_LINE}}`, 'gsu')) ?? [line];
}

/** A page of an answer, counted from 0. `runId` is empty if the answer belongs to no run. */
export interface Cursor {
  readonly runId: string;
  readonly page: number;
}

export function formatCursor({ runId, page }: Cursor): string {
  return `${runId}#${page}`;
}

/** Parses a cursor; null if it is invalid. */
export function parseCursor(text: string | undefined): Cursor | null {
  const [, runId = '', page = ''] = /^([\w-]*)#(\d{1,4})$/.exec(text ?? '') ?? [];
  return page === '' ? null : { runId, page: Number(page) };
}
