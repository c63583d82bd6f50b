// ECMA-48: strings (OSC, DCS, SOS, PM, APC) up to BEL or ST, CSI sequences, and the remaining escapes, each introduced by ESC or by
// the equivalent single C1 character. An unterminated string ends with its line.
export const terminalCodes =
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/g;

/**
 * Characters that hide or reorder text: control characters except tab and line feed, and what Unicode calls ignorable by default (invisible fillers,
 * tags, zero-width characters), format characters (directional marks) and variation selectors, which can encode hidden bytes.
 */
export const invisibleCharacters =
  /(?![\t\n])\p{Cc}|\p{Default_Ignorable_Code_Point}|\p{Format}|\p{Variation_Selector}/gu;

/** A text with none of the above, as most texts are. */
const plain = /^[\t\n\u0020-\u007e]*$/;

const loneSurrogate = /\p{Surrogate}/gu;

/**
 * Removes everything that controls a terminal or hides or reorders text (EV-10): escape sequences, control, directional and invisible
 * characters. Line breaks become `\n`. Idempotent.
 */
export function visibleText(text: string): string {
  if (plain.test(text)) return text;
  return text
    .replace(terminalCodes, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(invisibleCharacters, '')
    .replace(loneSurrogate, '\ufffd');
}

/** Commands in a job's log: GitHub, Azure and TeamCity execute some in the middle of a line, and GitHub others at its start. */
const logCommand = /#(?=#\w*\[)|(?<=^\s*):(?=:)/gm;

/** Makes a text safe to print: all of it visible, and without commands that a CI system would execute from a job's log. Idempotent. */
export function logText(text: string): string {
  return visibleText(text).replace(logCommand, '$& ');
}

// In copied logs, color codes may lack their escape character or spell it out.
const escape =
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  /(?:[\u001b\u009b]|\\u001b|\\x1b|&#x1b;|␛)(?:\[[0-9;?]{0,20}[@-~]|[@-_])|\[(?:\d{1,3};){0,4}\d{1,3}m/gi;

/** Removes terminal control sequences from a text. */
export function stripAnsi(text: string): string {
  return text.includes('[') ? text.replace(escape, '') : text;
}
