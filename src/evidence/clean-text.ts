import { redact } from '../secrets/redact.js';

// ECMA-48: CSI sequences, OSC strings up to BEL or ST, and the remaining two-character escapes.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const terminalCodes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

// Controls but for tab and line feed, and what hides or reorders text before a reader: zero-width and directional
// characters, and the tag block in which instructions can be written invisibly.
const unseen =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- as above
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const loneSurrogate = /\p{Surrogate}/gu;

/**
 * Makes text of unknown origin safe to keep and to show (EV-9, EV-10): no terminal codes, no characters that cannot be
 * seen, no secrets. Lines end with `\n`. Cleaning twice changes nothing.
 */
export function cleanText(text: string): string {
  const visible = text
    .replace(terminalCodes, '')
    .replace(/\r\n?/g, '\n')
    .replace(unseen, '')
    .replace(loneSurrogate, '\ufffd');
  return redact(visible);
}
