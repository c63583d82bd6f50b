import { StringDecoder } from 'node:string_decoder';

/** Passes on a longer line in parts, because output without line breaks would fill the memory. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

/** Splits bytes into lines; invalid UTF-8 becomes the replacement character. */
export function createLineSplitter(
  onLine: (line: string) => void,
  maxCharacters = MAX_LINE_CHARACTERS,
): { write(chunk: Buffer): void; end(): void } {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const feed = (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line.replace(/\r$/, ''));
    if (rest.length > maxCharacters) {
      onLine(rest);
      rest = '';
    }
  };
  return {
    write: (chunk) => feed(decoder.write(chunk)),
    end: () => {
      feed(decoder.end());
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
