/** Escapes a text so that Markdown shows it unchanged, on one line, at most 500 characters: it contains no markup and mentions nobody. */
export function prose(text: string): string {
  const escaped = oneLine(text, 500).replaceAll(/[\\`*_{}[\]<>#|~$!&]/g, String.raw`\$&`);
  // GitHub searches the rendered text for mentions, so escaping does not help, but an empty comment does.
  return escaped.replaceAll(/@(?=[\w-])/g, '@<!-- -->');
}

/** Formats a text as a code span, on one line, at most `width` characters; `none` if it is empty. */
export function code(text: string, width = 300): string {
  const line = oneLine(text, width);
  if (line === '') return 'none';
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Cuts a text at a line break, so that it takes at most `most` bytes. */
export function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const cut = Buffer.from(text).subarray(0, Math.max(0, most));
  const end = cut.lastIndexOf('\n');
  return cut.subarray(0, end + 1).toString();
}

function oneLine(text: string, width: number): string {
  // oxlint-disable-next-line no-control-regex -- control characters cannot be shown
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  // A character takes at most two code units, so this is enough to tell whether there are more than `width`.
  const characters = line.length > width ? Array.from(line.slice(0, 2 * width + 1)) : [];
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : line;
}
