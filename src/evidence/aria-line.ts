/** One line of Playwright's accessibility snapshot: an element, or a property of one (`/placeholder`). */
export interface AriaLine {
  readonly role: string;
  /** The accessible name; empty if there is none. */
  readonly name: string;
  readonly text: string;
}

/** One line of YAML: `- button "Pay" [disabled]: text`; the key is in single quotes if it contains a colon, for example. */
const shape = /^\s*- '?(\/?[\w-]+)(?: "((?:[^"\\]|\\.)*)")?(?: \[[^\]]*\])*(?::(?: "?(.*?)"?)?)?'?$/;

/** Parses one line; returns null if it does not describe an element or a property. */
export function ariaLineOf(line: string): AriaLine | null {
  const [found, role = '', name = '', text = ''] = shape.exec(line) ?? [];
  if (found === undefined) return null;
  return { role, name: name.replaceAll(/\\(.)/g, '$1').replaceAll("''", "'"), text };
}
