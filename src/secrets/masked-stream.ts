import { StringDecoder } from 'node:string_decoder';

/** How much of what was handed on is looked at again, so that a field's name is known above its value. */
const contextLength = 4096;
/** A line without an end, or a key without one, waits no longer than for this many characters. */
const maxHeld = 64 * 1024;
/** What of such a line waits on, and of lines that are a word each: a secret may stand at their end, torn. */
const maxTorn = 4096;

/** Takes bytes as they come. */
export interface MaskedStream {
  write(chunk: Uint8Array): void;
  /** Hands on what is left. */
  end(): void;
}

/**
 * Masks text that comes in pieces: whole lines are handed on at once, a private key when it is whole, and a secret that
 * the border of two pieces tears is masked as if there were none. `clean` is a `Redactor`'s.
 */
export function maskedStream(clean: (text: string) => string, handOn: (text: string) => void): MaskedStream {
  const decoder = new StringDecoder('utf8');
  let context = '';
  let held = '';
  const emit = (upTo: number): void => {
    const text = held.slice(0, upTo);
    if (text === '') return;
    handOn(cleanBehind(context, text, clean));
    context = lastLines(context + text);
    held = held.slice(upTo);
  };
  return {
    write: (chunk) => {
      held += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      emit(readyIn(held));
    },
    end: () => {
      held += decoder.end();
      emit(held.length);
    },
  };
}

/** The text as it is behind what was handed on already, which may say what stands in it, or begin a secret that ends in it. */
function cleanBehind(context: string, text: string, clean: (text: string) => string): string {
  const before = clean(context);
  const all = clean(context + text);
  let same = 0;
  while (same < before.length && before[same] === all[same]) same += 1;
  return all.slice(same);
}

function lastLines(text: string): string {
  if (text.length <= contextLength) return text;
  const tail = text.slice(-contextLength);
  return tail.slice(tail.indexOf('\n') + 1);
}

/** How much of the text can be handed on: its whole lines, up to a private key that has not ended. */
function readyIn(held: string): number {
  const lines = held.lastIndexOf('\n') + 1;
  const open = openKeyIn(held);
  const ready = open === -1 ? lines : Math.min(lines, held.lastIndexOf('\n', open) + 1);
  if (ready > 0) return beforeWords(held, ready);
  if (held.length <= maxHeld) return 0;
  // No end in sight: up to the last blank or quote, so that no word is torn.
  const border = Math.max(
    held.lastIndexOf(' ', held.length - maxTorn),
    held.lastIndexOf('"', held.length - maxTorn),
  );
  return border > 0 ? border : held.length - maxTorn;
}

/** Before the lines at the end that are one long word each, as programs wrap base64: the next one may belong to them. */
function beforeWords(held: string, end: number): number {
  let at = end;
  while (at > 0 && end - at < maxTorn) {
    const start = held.lastIndexOf('\n', at - 2) + 1;
    if (!/^[ \t]{0,40}[\w+/=.-]{16,512}\r?\n$/.test(held.slice(start, at))) break;
    at = start;
  }
  return at;
}

function openKeyIn(held: string): number {
  const begins = held.lastIndexOf('-----BEGIN ');
  return begins !== -1 && !held.includes('-----END ', begins) ? begins : -1;
}
