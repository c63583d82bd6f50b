/** At most `max` characters: the beginning and the end, and between them how much was left out. */
export function middleCut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor((max - 40) / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters …]\n${text.slice(-half)}`;
}

/**
 * Puts untrusted text into a fenced block that nothing inside it can close (EV-10): the fence is longer than any run of
 * backticks in the text, and a line that looks like our completion signal is broken up.
 */
export function fenced(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return `${fence}text\n${withoutSignals(text)
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()}\n${fence}`;
}

/** Breaks up what would be read as an agent's completion signal (AG-3) if an agent printed this text. */
export function withoutSignals(text: string): string {
  return text
    .replaceAll(/SELF-HEAL:/g, 'SELF-HEAL :')
    .replaceAll(/Fix applied successfully/gi, 'Fix applied …');
}
