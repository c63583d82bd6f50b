/** What a line of Playwright's accessibility snapshot says: of an element, or of a property of one (`/placeholder`). */
export interface AriaLine {
  readonly role: string;
  /** The accessible name; empty where there is none. */
  readonly name: string;
  readonly text: string;
}

/** YAML of one line: `- button "Pay" [disabled]: text`, the key in single quotes where it holds a colon, say. */
const shape = /^\s*- '?(\/?[\w-]+)(?: "((?:[^"\\]|\\.)*)")?(?: \[[^\]]*\])*(?::(?: "?(.*?)"?)?)?'?$/;

/** Reads one line; null for one that is no element's. */
export function ariaLineOf(line: string): AriaLine | null {
  const [found, role = '', name = '', text = ''] = shape.exec(line) ?? [];
  if (found === undefined) return null;
  return { role, name: name.replaceAll(/\\(.)/g, '$1').replaceAll("''", "'"), text };
}
