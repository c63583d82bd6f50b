/** Prints a message that is not an event, as a line on standard error. */
export function say(text: string): void {
  process.stderr.write(`self-heal ${text}\n`);
}
