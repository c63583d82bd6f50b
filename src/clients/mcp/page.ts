/** The most characters of one page: some 1,600 tokens at four characters each, which leaves room for the data. */
export const PAGE_CHARACTERS = 6_400;

/** A longer line is broken, so that it fits into a page with its fence. */
const LONGEST_LINE = 2_000;

const fence = /^(`{3,})\w*$/;

/**
 * Splits a Markdown text into pages of at most `PAGE_CHARACTERS`. A fenced block that goes on is closed and opened again, since what it holds may
 * not be read as anything but data.
 */
export function pagesOf(text: string): string[] {
  const pages: string[] = [];
  let lines: string[] = [];
  let used = 0;
  let open: string | null = null;
  const add = (line: string) => {
    lines.push(line);
    used += line.length + 1;
  };
  for (const line of text.trimEnd().split('\n').flatMap(broken)) {
    const closing = open === null ? 0 : open.length + 1;
    if (used + line.length + 1 + closing > PAGE_CHARACTERS) {
      pages.push([...lines, ...(open === null ? [] : [ticksOf(open)])].join('\n'));
      lines = [];
      used = 0;
      if (open !== null) add(open);
    }
    add(line);
    if (open === null) open = fence.test(line) ? line : null;
    else if (line === ticksOf(open)) open = null;
  }
  return [...pages, lines.join('\n')];
}

const ticksOf = (line: string) => fence.exec(line)?.[1] ?? '```';

function broken(line: string): string[] {
  return line.match(new RegExp(`.{1,${LONGEST_LINE}}`, 'gsu')) ?? [line];
}

/** A position in an answer: its source, such as a run, and the page, counted from 0. */
export interface Cursor {
  readonly of: string;
  readonly page: number;
}

/** Returns the text of a cursor. */
export function cursorText({ of, page }: Cursor): string {
  return `${of}#${page}`;
}

/** Reads a cursor; the first page of nothing if it is none. */
export function cursorIn(text: string | undefined): Cursor | null {
  const [, of = '', page = ''] = /^([\w-]*)#(\d{1,4})$/.exec(text ?? '') ?? [];
  return page === '' ? null : { of, page: Number(page) };
}
