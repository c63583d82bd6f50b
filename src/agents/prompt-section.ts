import { type BlockOptions, fenced } from '../fenced.js';

/** Renders a section of a prompt in about `room` characters; returns an empty text if that is too little. */
export type Section = (room: number) => string;

/** Renders the sections in about `room` characters. Sections with a higher priority get room first. */
export function fitSections(
  sections: Readonly<Record<string, Section | null>>,
  { byPriority, inOrder }: { readonly byPriority: readonly string[]; readonly inOrder: readonly string[] },
  room: number,
): string[] {
  const texts = new Map<string, string>();
  let remaining = room;
  for (const name of new Set(byPriority)) {
    const text = sections[name]?.(remaining) ?? '';
    if (text === '' || text.length > remaining) continue;
    texts.set(name, text);
    remaining -= text.length + 2;
  }
  return [...new Set(inOrder)].map((name) => texts.get(name) ?? '');
}

/** Returns as many of the first texts as fit into `room` characters, each on lines of its own. */
export function takeFirstTexts(texts: readonly string[], room: number): string[] {
  let remaining = room;
  return texts.filter((text) => (remaining -= text.length + 1) > 0);
}

/** Formats a section with its title. */
export function formatSection(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

/** Untrusted text in a section, which is shown in a fenced block. */
export interface Block extends BlockOptions {
  readonly text: string;
  readonly longest: number;
  /** Shortens the text to a number of characters, if cutting its middle is not good enough. */
  readonly shorten?: (length: number) => string;
}

/** A text that has room for fewer characters is not worth a section. */
const MIN_BLOCK = 80;

/** Renders a block with sentences before and after it; nothing if there is too little room for them. */
export function renderSection({
  title,
  before = '',
  block,
  after = '',
}: {
  readonly title?: string;
  readonly before?: string;
  readonly block?: Block;
  readonly after?: string;
}): Section {
  return (room) => {
    const overhead = `${title ?? ''}${before}${after}`.length + 30;
    const length = Math.min(block?.longest ?? 0, room - overhead);
    if (length < (block ? Math.min(MIN_BLOCK, block.text.length) : 0)) return '';
    const longest = block?.shorten ? Infinity : length;
    const shown = block ? fenced(block.shorten?.(length) ?? block.text, { ...block, longest }) : '';
    const text = [before, shown, after].filter((part) => part !== '').join('\n\n');
    return title === undefined ? text : formatSection(title, text);
  };
}

/** Renders a text from the test, the page or a server in a fenced block; nothing without a text. */
export function renderBlock(
  title: string,
  text: string | null | undefined,
  { before = '', ...block }: Omit<Block, 'text'> & { readonly before?: string },
): Section | null {
  return text?.trim() ? renderSection({ title, before, block: { text, ...block } }) : null;
}
