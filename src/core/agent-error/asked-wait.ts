/** How much of a text is read: its end, where a program says what it gave up on. */
const MAX_CHARACTERS = 20_000;

const number = String.raw`(\d{1,6}(?:\.\d{1,9})?)`;
const unit = String.raw`(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)(?![a-z])`;

/** Names of a field whose value is a number, quoted or not, with an optional unit; `-ms` names are of milliseconds. */
const field = new RegExp(
  String.raw`\b(retry[-_ ]?after(?:[-_](?:ms|seconds))?|retryDelay|reset[-_ ]?after)\b["']? ?[:=(]? ?["']?${number} ?(?:${unit})?`,
  'gi',
);
/** `try again in 1m30s`, `Please retry in 38.2s.`, `wait 30 seconds before …`; without a unit it may be anything. */
const sentence = new RegExp(
  String.raw`\b(?:(?:re)?try(?: again)?|available(?: again)?|resets?) (?:in|after) (?:about |~)?${number} ?${unit}(?: ?(?:and )?${number} ?${unit})?|\bwait (?:for )?(?:about |at least )?${number} ?${unit}`,
  'gi',
);

/** For how many milliseconds a program's words ask to wait before the next request, or null; the last that it says counts. */
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

/** A bare number is of seconds, as in the header of HTTP. */
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
