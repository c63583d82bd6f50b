/** A way in which a text is written into another one. */
interface Encoding {
  /** One piece of encoded text. */
  readonly pattern: RegExp;
  readonly isEncoded: (piece: string) => boolean;
  /** Throws where the piece is not what it seems. */
  readonly decode: (piece: string) => string;
  readonly encode: (text: string) => string;
}

const atoms = /(\ufdd0[\ue000-\uefff])/;

const encodings: readonly Encoding[] = [
  {
    pattern: /(?:[\w.~!*'()+-]|%[\dA-Fa-f]{2}|\ufdd0[\ue000-\uefff]){6,16384}/g,
    isEncoded: (piece) => piece.includes('%'),
    decode: (piece) => decodeURIComponent(piece.replaceAll('+', ' ')),
    encode: (text) =>
      text
        .split(atoms)
        .map((part) => (atoms.test(part) ? part : encodeURIComponent(part)))
        .join(''),
  },
  {
    // A JSON string with an escape in it. One that is not closed is taken as well, or the search would begin again at
    // each of its quotes.
    pattern: /"[^"\\\n]*(?:\\.[^"\\\n]*){0,4096}"?/g,
    isEncoded: (piece) => piece.length > 2 && piece.endsWith('"') && piece.includes('\\'),
    decode: (piece) => JSON.parse(piece) as string,
    encode: (text) => JSON.stringify(text),
  },
];

/**
 * Masks inside of what is percent-encoded or a JSON string, where a line no longer begins at a line's beginning and a
 * name stands no longer beside its value. A piece without a secret stays as it is written.
 */
export function maskEncoded(text: string, maskDecoded: (text: string) => string): string {
  return encodings.reduce(
    (masked, { pattern, isEncoded, decode, encode }) =>
      masked.replace(pattern, (piece) => {
        if (!isEncoded(piece)) return piece;
        try {
          const decoded = decode(piece);
          const inside = maskDecoded(decoded);
          return inside === decoded ? piece : encode(inside);
        } catch {
          // `100%` of prose, or half of a string.
          return piece;
        }
      }),
    text,
  );
}
