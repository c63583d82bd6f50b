/** A text as it reads when something in it is undone or left out, and where each stretch of it stands in the text itself. */
export interface View {
  readonly text: string;
  /** The stretch of the original text that reads as `[start, end)` of this view. */
  readonly source: (start: number, end: number) => readonly [start: number, end: number];
}

/** Where a piece of the view begins, and the stretch `[from, to)` that it stands for. */
interface Piece {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  /** Character by character; otherwise all of it stands for the whole stretch. */
  readonly isCopy: boolean;
}

/** The text itself. */
export function viewOf(text: string): View {
  return { text, source: (start, end) => [start, end] };
}

/** Puts a view of a text together from pieces, which come in order. */
export class ViewBuilder {
  readonly #text: string;
  readonly #pieces: Piece[] = [];
  readonly #parts: string[] = [];
  #length = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** What stands at `[from, to)`, as it is. */
  copy(from: number, to: number): void {
    if (from < to) this.#add(this.#text.slice(from, to), from, to, true);
  }

  /** What stands at `[from, to)` reads as this; of what reads as nothing nothing has to be said. */
  put(part: string, from: number, to: number): void {
    if (part !== '') this.#add(part, from, to, false);
  }

  /** A view of the text that all places belong to, which may be a view of another itself. */
  build(of: View): View {
    return {
      text: this.#parts.join(''),
      source: (start, end) => {
        const first = this.#pieceAt(start);
        const last = this.#pieceAt(end - 1);
        return of.source(
          first.isCopy ? first.from + (start - first.at) : first.from,
          last.isCopy ? last.from + (end - last.at) : last.to,
        );
      },
    };
  }

  // oxlint-disable-next-line max-params -- an object for each piece of a long text costs a tenth of the time
  #add(part: string, from: number, to: number, isCopy: boolean): void {
    this.#pieces.push({ at: this.#length, from, to, isCopy });
    this.#parts.push(part);
    this.#length += part.length;
  }

  /** The last piece that begins at or before the place, found by halves. */
  #pieceAt(place: number): Piece {
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#pieces[middle]?.at ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return this.#pieces[low] ?? { at: 0, from: 0, to: 0, isCopy: true };
  }
}
