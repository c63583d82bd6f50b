import { StringDecoder } from 'node:string_decoder';
import { visibleText } from '../core/visible-text.js';
import { type Mask, type Masking, shownBetween } from './masks.js';

/** How much of what was handed on is looked at again, so that a field's name is known above its value. */
const contextLength = 4096;
/** A line without an end, or what goes on in the next line, waits no longer than for this many characters. */
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
 * Masks text that comes in pieces: whole lines are handed on at once, but for those that go on in the next one, and a secret
 * that the border of two pieces tears is masked as if there were none.
 */
export function maskedStream(masking: Masking, handOn: (text: string) => void): MaskedStream {
  const decoder = new StringDecoder('utf8');
  /** What was handed on, what can be, and what has not ended: the first two are visible text. */
  let [context, held, open] = ['', '', ''];
  const emit = (upTo: number): void => {
    if (upTo === 0) return;
    const text = context + held + visibleText(open);
    const from = context.length;
    const masks = masking.masksIn(text);
    const to = borderNear(from + upTo, masks, { from, end: from + held.length });
    if (to === from) return;
    handOn(shownBetween(text, masks, { from, to }));
    context = lastLines(text.slice(0, to));
    held = text.slice(to, from + held.length);
  };
  const take = (length: number): void => {
    held += visibleText(open.slice(0, length));
    open = open.slice(length);
  };
  return {
    write: (chunk) => {
      open += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      take(endedIn(open));
      emit(readyIn(held));
    },
    end: () => {
      open += decoder.end();
      take(open.length);
      emit(held.length);
    },
  };
}

/** How much of the text has ended: its whole lines, or of one without an end in sight as much as tears no word and no escape. */
function endedIn(open: string): number {
  const lines = open.lastIndexOf('\n') + 1;
  if (lines > 0 || open.length <= maxHeld) return lines;
  const last = open.length - maxTorn;
  const border = Math.max(open.lastIndexOf(' ', last), open.lastIndexOf('"', last));
  const end = border > 0 ? border : last;
  const escape = open.lastIndexOf('\u001b', end);
  return escape > end - maxTorn && escape > 0 ? escape : end;
}

/** A place at which no secret is torn: before the one that stands there, or behind it where the stretch is nothing else. */
function borderNear(
  place: number,
  masks: readonly Mask[],
  { from, end }: { from: number; end: number },
): number {
  const across = masks.find((one) => one.start < place && one.end > place);
  if (across === undefined) return place;
  const isHeldLong = end - from > maxHeld;
  return across.start > from && !isHeldLong ? across.start : Math.min(across.end, end);
}

function lastLines(text: string): string {
  if (text.length <= contextLength) return text;
  const tail = text.slice(-contextLength);
  return tail.slice(tail.indexOf('\n') + 1);
}

/** How much of the text can be handed on: all but the lines at its end that may belong to the next one. */
function readyIn(held: string): number {
  const key = openKeyIn(held);
  const end = key === -1 ? held.length : held.lastIndexOf('\n', key) + 1;
  if (held.length > maxHeld && end === 0) return held.length;
  return beforeWhatGoesOn(held, end);
}

/** One long word, as programs wrap base64, or what a list or an object goes on behind. */
const goesOn = /^[ \t]{0,40}[\w+/=.-]{16,512}\n$|[,[{(]\n$/;

function beforeWhatGoesOn(held: string, end: number): number {
  let at = end;
  while (at > 0 && end - at < maxTorn) {
    const start = held.lastIndexOf('\n', at - 2) + 1;
    if (!goesOn.test(held.slice(start, at))) break;
    at = start;
  }
  return at;
}

function openKeyIn(held: string): number {
  const begins = held.lastIndexOf('-----BEGIN ');
  return begins !== -1 && !held.includes('-----END ', begins) ? begins : -1;
}
