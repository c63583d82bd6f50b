/** Tells a person something beside the events: a line on standard error. */
export function say(text: string): void {
  process.stderr.write(`self-heal ${text}\n`);
}
