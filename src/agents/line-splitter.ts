import { StringDecoder } from 'node:string_decoder';

/** A longer line is passed on in parts, because output without line breaks would fill the memory. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

/** Splits bytes into lines; invalid UTF-8 becomes the replacement character. */
export function createLineSplitter(
  onLine: (line: string) => void,
  maxCharacters = MAX_LINE_CHARACTERS,
): { write(chunk: Buffer): void; end(): void } {
  const decoder = new StringDecoder('utf8');
  let incomplete = '';
  const splitText = (text: string) => {
    const lines = (incomplete + text).split('\n');
    incomplete = lines.pop() ?? '';
    for (const line of lines) onLine(line.replace(/\r$/, ''));
    if (incomplete.length > maxCharacters) {
      onLine(incomplete);
      incomplete = '';
    }
  };
  return {
    write: (chunk) => splitText(decoder.write(chunk)),
    end: () => {
      splitText(decoder.end());
      if (incomplete !== '') onLine(incomplete);
      incomplete = '';
    },
  };
}
