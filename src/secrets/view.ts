/** A text with something undone or left out, and a mapping of each of its ranges back to the original. */
export interface View {
  readonly text: string;
  /** Returns the range of the original text that `[start, end)` of this view stands for. */
  readonly source: (start: number, end: number) => readonly [start: number, end: number];
}

/** Where a piece begins in the view, and the range `[from, to)` that it stands for. */
interface Piece {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  /** Copied character by character; otherwise the whole piece stands for the whole range. */
  readonly isCopy: boolean;
}

/** Returns the text itself as a view. */
export function viewOf(text: string): View {
  return { text, source: (start, end) => [start, end] };
}

/** Builds a view of a text from pieces, which are added in order. */
export class ViewBuilder {
  readonly #text: string;
  readonly #pieces: Piece[] = [];
  readonly #parts: string[] = [];
  #length = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Adds the range `[from, to)` unchanged. */
  copy(from: number, to: number): void {
    if (from < to) this.#add(this.#text.slice(from, to), from, to, true);
  }

  /** Adds `part` as the reading of `[from, to)`. Omitted ranges need no call. */
  put(part: string, from: number, to: number): void {
    if (part !== '') this.#add(part, from, to, false);
  }

  /** Builds the view. The positions refer to `of`, which may itself be a view of another text. */
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

  // oxlint-disable-next-line max-params -- an object per piece of a long text costs a tenth of the time
  #add(part: string, from: number, to: number, isCopy: boolean): void {
    this.#pieces.push({ at: this.#length, from, to, isCopy });
    this.#parts.push(part);
    this.#length += part.length;
  }

  /** Returns the last piece that begins at or before the position, by binary search. */
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
