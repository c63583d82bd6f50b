// In copied logs, color codes may have lost their escape character or have it spelled out.
const escape =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /(?:[\u001b\u009b]|\\u001b|\\x1b|&#x1b;|␛)(?:\[[0-9;?]{0,20}[@-~]|[@-_])|\[(?:\d{1,3};){0,4}\d{1,3}m/gi;

/** Removes terminal control sequences from a text. */
export function stripAnsi(text: string): string {
  return text.includes('[') ? text.replace(escape, '') : text;
}
