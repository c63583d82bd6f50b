/** Cuts a text to `max` characters, with a note. */
export function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}… (${text.length - max} characters cut)` : text;
}
