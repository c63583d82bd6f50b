/** Only this many characters at the end of a text are read: programs say last what made them give up. */
const MAX_CHARACTERS = 20_000;

const number = String.raw`(\d{1,6}(?:\.\d{1,9})?)`;
const unit = String.raw`(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)(?![a-z])`;

/** Fields with a numeric value, quoted or not, and an optional unit; a name that ends in `ms` means milliseconds. */
const field = new RegExp(
  String.raw`\b(retry[-_ ]?after(?:[-_](?:ms|seconds))?|retryDelay|reset[-_ ]?after)\b["']? ?[:=(]? ?["']?${number} ?(?:${unit})?`,
  'gi',
);
/** `try again in 1m30s`, `Please retry in 38.2s.`, `wait 30 seconds before …`; the unit is required, since a bare number may mean anything. */
const sentence = new RegExp(
  String.raw`\b(?:(?:re)?try(?: again)?|available(?: again)?|resets?) (?:in|after) (?:about |~)?${number} ?${unit}(?: ?(?:and )?${number} ?${unit})?|\bwait (?:for )?(?:about |at least )?${number} ?${unit}`,
  'gi',
);

/** Returns how many milliseconds a program's output asks to wait before the next request, or null; the last request to wait counts. */
export function askedWaitMs(text: string): number | null {
  const end = text.slice(-MAX_CHARACTERS).replaceAll('\\"', '"');
  const asked = [
    ...Array.from(end.matchAll(field), fromField),
    ...Array.from(end.matchAll(sentence), fromSentence),
  ];
  const last = asked.reduce<Asked | null>((a, b) => (a && a.at > b.at ? a : b), null);
  return last && Math.ceil(last.ms);
}

interface Asked {
  readonly at: number;
  readonly ms: number;
}

/** A number without a unit is in seconds, as in HTTP's `Retry-After` header. */
function fromField(match: RegExpMatchArray): Asked {
  const [, name = '', value = '', unit = /ms$/i.test(name) ? 'ms' : 's'] = match;
  return { at: match.index ?? 0, ms: inMs(value, unit) };
}

function fromSentence(match: RegExpMatchArray): Asked {
  const [, first, firstUnit, second, secondUnit, wait, waitUnit] = match;
  return {
    at: match.index ?? 0,
    ms: inMs(first, firstUnit) + inMs(second, secondUnit) + inMs(wait, waitUnit),
  };
}

function inMs(value = '0', unit = 's'): number {
  const word = unit.toLowerCase();
  const factor = /^m(?:s|illi)/.test(word) ? 1 : word.startsWith('m') ? 60_000 : 1000;
  return Number(value) * factor;
}
