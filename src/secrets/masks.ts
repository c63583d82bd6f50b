/** What a mask says stands there: `[masked: github token]`. */
export type MaskOf = (kind: string) => string;

// A noncharacter, which no text that is exchanged may hold (Unicode 23.7), and then the number of the mask.
const mark = '\ufdd0';
const numbersFrom = 0xe000;
const mostKinds = 0x1000;
const written = /\[masked: ([^\]\n]{1,80})\]/g;
const atom = /\ufdd0([\ue000-\uefff])/g;

/** A text that consists of masks alone, or is empty; only meaningful inside `withMasks`. */
export function isMasked(text: string): boolean {
  return text.replace(atom, '').trim() === '';
}

/**
 * Does the work of masking on a text in which every mask, of now or of an earlier time, is one indivisible word. So no
 * pattern can mask a part of a mask, and masking twice is the same as once.
 */
export function withMasks(text: string, work: (text: string, mask: MaskOf) => string): string {
  const kinds: string[] = [];
  const numbers = new Map<string, number>();
  const mask: MaskOf = (kind) => {
    let number = numbers.get(kind);
    if (number === undefined) {
      number = Math.min(kinds.length, mostKinds - 1);
      kinds[number] = kind;
      numbers.set(kind, number);
    }
    return mark + String.fromCharCode(numbersFrom + number);
  };
  const opaque = text.replaceAll(mark, '').replace(written, (_, kind: string) => mask(kind));
  const done = work(opaque, mask);
  return kinds.length === 0
    ? done
    : done.replace(
        atom,
        (_, number: string) => `[masked: ${kinds[number.charCodeAt(0) - numbersFrom] ?? 'secret'}]`,
      );
}
