/** A secret that nobody ever used, in one way in which it is written. */
export interface Plant {
  readonly kind: string;
  /** How it is written. */
  readonly spelling: string;
  /** No eight characters of it in a row may be found in what leaves, however they are written. */
  readonly value: string;
  readonly text: string;
}

/** Sixty-two characters. */
export const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Always the same characters for the same seed, mixed as a generator mixes them (xorshift). */
export function pseudoRandom(length: number, from: string, seed: number): string {
  let state = (seed * 2_654_435_761 + 97) >>> 0 || 1;
  return Array.from({ length }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return from[state % from.length];
  }).join('');
}

/** A plant of these parts. */
export function planted(kind: string, spelling: string, value: string, text: string): Plant {
  return { kind, spelling, value, text };
}

const stretch = 8;

/**
 * The first stretch of the plant's value that can be read in a text, however it is written there; null where none can.
 * A value shorter than a stretch counts as a whole.
 */
export function leakOf({ value }: Plant, text: string): string | null {
  const readable = readings(text);
  const whole = readings(value)[1] ?? value;
  for (let at = 0; at === 0 || at + stretch <= whole.length; at += 1) {
    const part = whole.slice(at, at + stretch);
    if (readable.some((one) => one.includes(part))) return part;
  }
  return null;
}

/** The text as it stands, and as somebody reads it who undoes whatever was done to it. */
function readings(text: string): string[] {
  let read = text;
  for (let round = 0; round < 4; round += 1) {
    read = read
      .replace(/\\+u\{?([\dA-Fa-f]{4,5})\}?/g, (_, digits: string) =>
        String.fromCodePoint(Number.parseInt(digits, 16)),
      )
      .replace(/\\+[nrt]/g, '')
      .replace(/\\+/g, '')
      .replace(/(?:%[\dA-Fa-f]{2})+/g, (found) => Buffer.from(found.replaceAll('%', ''), 'hex').toString())
      .replace(/&#x([\dA-Fa-f]{1,5});/g, (_, digits: string) =>
        String.fromCodePoint(Number.parseInt(digits, 16)),
      )
      .replace(/&#(\d{1,6});/g, (_, digits: string) => String.fromCodePoint(Number(digits)))
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
  }
  // oxlint-disable-next-line no-control-regex -- ESC begins a colour
  const bare = read.replace(/[\s'"+\u200b]|\u001b\[[\d;]*m/g, '');
  const base64 = [...bare.matchAll(/[\w/-]{16,}={0,2}/g)].flatMap(([found]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(found.slice(from), 'base64').toString('latin1')),
  );
  const hex = [...bare.matchAll(/[\da-f]{24,}/gi)].map(([found]) => Buffer.from(found, 'hex').toString());
  return [text, bare, base64.join('\n'), hex.join('\n')];
}
