import { StringDecoder } from 'node:string_decoder';
import { visibleText } from '../visible-text.js';
import { type Mask, type MaskFinder, maskRange } from './redactor.js';

/** How many characters of emitted output are scanned again, because a field's name may be above its value. */
const CONTEXT_LENGTH = 4096;
/** At most this many characters of an unfinished line, or of continued lines, are held back. */
const MAX_HELD_LENGTH = 64 * 1024;
/** This many characters at the end of an overlong text are still held back, because they may be the first part of a secret. */
const MAX_TORN_LENGTH = 4096;

interface MaskedStream {
  write(chunk: Uint8Array): void;
  /** Emits the rest. */
  end(): void;
}

/**
 * Masks text that arrives in chunks. Emits a line only when a few more have arrived, so that a secret split over chunks or lines is masked
 * like any other.
 */
export function createMaskedStream(masking: MaskFinder, onMasked: (text: string) => void): MaskedStream {
  const decoder = new StringDecoder('utf8');
  /** Emitted text, complete text that is still held back, and the unfinished rest. Only the rest may contain invisible characters. */
  let [context, pending, unfinished] = ['', '', ''];
  const emit = (upTo: number): void => {
    if (upTo === 0) return;
    const text = context + pending + visibleText(unfinished);
    const from = context.length;
    const masks = masking.findMasks(text);
    const to = findSafeBorder(from + upTo, masks, { from, end: from + pending.length });
    if (to === from) return;
    onMasked(maskRange(text, masks, { from, to }));
    context = keepLastLines(text.slice(0, to));
    pending = text.slice(to, from + pending.length);
  };
  const moveToPending = (length: number): void => {
    pending += visibleText(unfinished.slice(0, length));
    unfinished = unfinished.slice(length);
  };
  return {
    write: (chunk) => {
      unfinished += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      moveToPending(measureCompletePart(unfinished));
      emit(measureEmittablePart(pending));
    },
    end: () => {
      unfinished += decoder.end();
      moveToPending(unfinished.length);
      emit(pending.length);
    },
  };
}

/** Returns how much of the text is complete: its whole lines, or part of an overlong line that splits neither a word nor an escape sequence. */
function measureCompletePart(unfinished: string): number {
  const lines = unfinished.lastIndexOf('\n') + 1;
  if (lines > 0 || unfinished.length <= MAX_HELD_LENGTH) return lines;
  const last = unfinished.length - MAX_TORN_LENGTH;
  const border = Math.max(unfinished.lastIndexOf(' ', last), unfinished.lastIndexOf('"', last));
  const end = border > 0 ? border : last;
  const escape = unfinished.lastIndexOf('\u001b', end);
  return escape > end - MAX_TORN_LENGTH && escape > 0 ? escape : end;
}

/** Moves a border out of the secret that spans it: to its start, or to its end if nothing precedes it or too much is held back. */
function findSafeBorder(
  border: number,
  masks: readonly Mask[],
  { from, end }: { from: number; end: number },
): number {
  const spanningMask = masks.find((mask) => mask.start < border && mask.end > border);
  if (spanningMask === undefined) return border;
  const isTooLong = end - from > MAX_HELD_LENGTH;
  return spanningMask.start > from && !isTooLong ? spanningMask.start : Math.min(spanningMask.end, end);
}

function keepLastLines(text: string): string {
  if (text.length <= CONTEXT_LENGTH) return text;
  const tail = text.slice(-CONTEXT_LENGTH);
  return tail.slice(tail.indexOf('\n') + 1);
}

/** A value may be wrapped over this many lines, or have its name in one of them. */
const LINES_HELD = 4;

/** Returns how much of the text can be emitted: all but its last lines and a private key that has not ended. */
function measureEmittablePart(pending: string): number {
  const key = findOpenPrivateKey(pending);
  if (pending.length > MAX_HELD_LENGTH) return pending.length - MAX_TORN_LENGTH;
  let end = key === -1 ? pending.length : pending.lastIndexOf('\n', key) + 1;
  for (let line = 0; line < LINES_HELD && end > 0; line += 1) end = pending.lastIndexOf('\n', end - 2) + 1;
  return Math.max(end, key === -1 ? pending.length - MAX_TORN_LENGTH : 0);
}

function findOpenPrivateKey(pending: string): number {
  const keyStart = pending.lastIndexOf('-----BEGIN ');
  return keyStart !== -1 && !pending.includes('-----END ', keyStart) ? keyStart : -1;
}
