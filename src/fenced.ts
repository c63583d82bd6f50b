/**
 * Shortens a text to at most `max` characters: its beginning and end, and between them how many characters were left out, and which file has them
 * all.
 */
export function middleCut(text: string, max: number, file?: string): string {
  if (text.length <= max) return text;
  // Without room for the sentence in between, only the beginning is left.
  if (max < 80) return text.slice(0, Math.max(0, max));
  const half = Math.floor((max - 40 - (file?.length ?? 0)) / 2);
  const where = file === undefined ? '' : `, in ${file}`;
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters${where} …]\n${text.slice(-half)}`;
}

/**
 * Puts untrusted text into a fenced block that nothing inside can close (EV-10): the fence is longer than any run of backticks in
 * the text, and anything that looks like the agents' completion signal is broken up.
 */
export function fenced(text: string, language = 'text'): string {
  const fence = fenceFor(text);
  return `${fence}${language}\n${withoutSignals(text)
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()}\n${fence}`;
}

/** Returns a fence that is longer than any run of backticks in a text, so that nothing in the text can close it. */
export function fenceFor(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
}

/** Breaks up anything that would be read as an agent's completion signal (AG-3) if an agent printed this text. */
export function withoutSignals(text: string): string {
  return text
    .replaceAll(/SELF-HEAL:/g, 'SELF-HEAL :')
    .replaceAll(/Fix applied successfully/gi, 'Fix applied …');
}
