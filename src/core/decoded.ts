/** Undoes percent-encoding; returns the text unchanged if that is not valid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
