const ENTRY = '.self-heal/';

/** Whether a .gitignore of the folder itself, or of one above it, ignores `.self-heal`; the last line that speaks of it counts. */
export function ignoresFolder(text: string): boolean {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .reduce((ignored, line) => {
      if (/^(?:\*\*\/|\/)?\.self-heal(?:\/|\/\*\*?)?$/.test(line)) return true;
      return /^!(?:\*\*\/|\/)?\.self-heal\/?$/.test(line) ? false : ignored;
    }, false);
}

/** The text with the entry as its last line, in the line ends that it has. */
export function withIgnoreEntry(text: string): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const complete = text === '' || text.endsWith('\n') ? text : `${text}${end}`;
  return `${complete}${ENTRY}${end}`;
}
