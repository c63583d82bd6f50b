import { Writable } from 'node:stream';
import stringWidth from 'string-width';

const ESCAPE = '\u001b';
// oxlint-disable-next-line no-control-regex -- what a terminal reads
const sequence = /^\u001b\[([?0-9;]*)([@-~])/;

interface Row {
  cells: string[];
  /** Whether the line continues in the next row. */
  wraps: boolean;
}

/**
 * Emulates what a terminal shows: as much of ECMA-48 as ora and we use, with wide characters, automatic wrapping, scrollback and, as in
 * most terminals, lines that are rewrapped when the window is resized. Rejects unknown sequences.
 */
export class TerminalScreen {
  #rows: Row[] = [{ cells: [], wraps: false }];
  #row = 0;
  #column = 0;
  cursorVisible = true;

  columns: number;
  rows: number;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  /** Returns all lines, including those that have scrolled away. */
  all(): string[] {
    return this.#rows.map(({ cells }) => cells.join('').trimEnd());
  }

  /** Returns the lines on the screen. */
  screen(): string[] {
    return this.all().slice(this.#top());
  }

  cursor(): { row: number; column: number } {
    return { row: this.#row - this.#top(), column: this.#column };
  }

  write(text: string): void {
    let rest = text;
    while (rest !== '') {
      if (rest.startsWith(ESCAPE)) {
        const found = sequence.exec(rest);
        if (!found) throw new Error(`no sequence that is known: ${JSON.stringify(rest.slice(0, 20))}`);
        this.#steer(found[1] ?? '', found[2] ?? '');
        rest = rest.slice(found[0].length);
      } else {
        const end = rest.indexOf(ESCAPE);
        const plain = end === -1 ? rest : rest.slice(0, end);
        for (const { segment } of new Intl.Segmenter().segment(plain)) this.#put(segment);
        rest = rest.slice(plain.length);
      }
    }
  }

  resize(columns: number, rows: number): void {
    const at = this.#logical();
    this.columns = columns;
    this.rows = rows;
    this.#rows = at.lines.flatMap((cells) => wrapCells(cells, columns));
    let row = 0;
    for (let line = 0; line < at.line; line += 1) row += wrapCells(at.lines[line] ?? [], columns).length;
    this.#row = row + Math.floor(at.offset / columns);
    this.#column = at.offset % columns;
    while (this.#rows.length <= this.#row) this.#rows.push({ cells: [], wraps: false });
  }

  #logical(): { lines: string[][]; line: number; offset: number } {
    const lines: string[][] = [[]];
    const at = { line: 0, offset: 0 };
    for (const [index, { cells, wraps }] of this.#rows.entries()) {
      if (index === this.#row)
        Object.assign(at, { line: lines.length - 1, offset: (lines.at(-1)?.length ?? 0) + this.#column });
      lines.at(-1)?.push(...cells);
      if (!wraps && index < this.#rows.length - 1) lines.push([]);
    }
    return { lines, ...at };
  }

  #top(): number {
    return Math.max(0, this.#rows.length - this.rows);
  }

  #put(segment: string): void {
    if (segment === '\r') this.#column = 0;
    else if (segment === '\n' || segment === '\r\n') {
      this.#column = 0;
      this.#down();
    } else {
      const width = stringWidth(segment);
      if (this.#column + width > this.columns) {
        this.#current().wraps = true;
        this.#column = 0;
        this.#down();
      }
      const { cells } = this.#current();
      while (cells.length < this.#column) cells.push(' ');
      cells.splice(this.#column, Math.max(1, width), segment, ...Array.from({ length: width - 1 }, () => ''));
      this.#column += width;
    }
  }

  #down(): void {
    this.#row += 1;
    if (this.#row === this.#rows.length) this.#rows.push({ cells: [], wraps: false });
  }

  #current(): Row {
    return this.#rows[this.#row] ?? { cells: [], wraps: false };
  }

  #steer(parameters: string, what: string): void {
    const count = Number(parameters || '1');
    if (what === 'm') return;
    if (what === 'h' || what === 'l') {
      if (parameters === '?25') this.cursorVisible = what === 'h';
      else if (parameters !== '?2026') throw new Error(`no mode that is known: ${parameters}`);
    } else if (what === 'A') this.#row = Math.max(this.#top(), this.#row - count);
    else if (what === 'G') this.#column = count - 1;
    else if (what === 'K') {
      const row = this.#current();
      row.cells = parameters === '2' ? [] : row.cells.slice(0, this.#column);
      row.wraps = false;
    } else if (what === 'J' && parameters === '') {
      this.#current().cells.splice(this.#column);
      this.#rows.splice(this.#row + 1);
    } else throw new Error(`no sequence that is known: ${parameters}${what}`);
  }
}

function wrapCells(cells: readonly string[], columns: number): Row[] {
  const end = cells.findLastIndex((cell) => cell.trim() !== '') + 1;
  const rows: Row[] = [];
  for (let at = 0; at < Math.max(1, end); at += columns) {
    rows.push({ cells: cells.slice(at, Math.min(end, at + columns)), wraps: at + columns < end });
  }
  return rows;
}

/** A terminal's stream, which is drawn on a screen, and whose window can be resized. */
export class ScreenStream extends Writable {
  readonly isTTY = true;
  readonly screen: TerminalScreen;
  /** Everything that was written, one entry per write. */
  readonly written: string[] = [];

  columns: number;
  rows: number;

  constructor(columns = 80, rows = 24) {
    super({ decodeStrings: false });
    this.columns = columns;
    this.rows = rows;
    this.screen = new TerminalScreen(columns, rows);
  }

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    this.#draw(String(chunk));
    done();
  }

  override _writev(chunks: { chunk: unknown }[], done: () => void): void {
    this.#draw(chunks.map(({ chunk }) => String(chunk)).join(''));
    done();
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows);
    this.columns = columns;
    this.rows = rows;
    this.emit('resize');
  }

  cursorTo(column: number): boolean {
    return this.write(`\u001b[${column + 1}G`);
  }

  moveCursor(_columns: number, rows: number): boolean {
    return this.write(`\u001b[${-rows}A`);
  }

  clearLine(): boolean {
    return this.write('\u001b[K');
  }

  #draw(text: string): void {
    this.written.push(text);
    this.screen.write(text);
  }
}
