/** Spaces other than the plain one, and characters without a width. */
const spaces = /[\s\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/gu;
const invisible = /[\u00AD\u200B-\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF]/gu;
const dashes = /[\u2010-\u2015\u2212]/gu;
const quotes = /[\u2018\u2019\u201A\u02BC]/gu;
const doubleQuotes = /[\u201C\u201D\u201E]/gu;

/** Replaces each character with the plain one that looks the same. */
function replaceLookAlikes(text: string): string {
  return text
    .normalize('NFKC')
    .replace(invisible, '')
    .replace(spaces, ' ')
    .replace(dashes, '-')
    .replace(quotes, "'")
    .replace(doubleQuotes, '"');
}

/** Names the first different code points of two texts that look the same; null if the texts are equal or look different. */
export function explainLookAlike(expected: string, received: string): string | null {
  if (expected === received || replaceLookAlikes(expected) !== replaceLookAlikes(received)) return null;
  const [wanted, got] = [Array.from(expected), Array.from(received)];
  const at = wanted.findIndex((character, index) => character !== got[index]);
  const index = at < 0 ? wanted.length : at;
  return `they look alike: at character ${index + 1}, ${formatCodePoint(wanted[index])} is expected and ${formatCodePoint(got[index])} received`;
}

function formatCodePoint(character: string | undefined): string {
  if (character === undefined) return 'the end';
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
