import type { WriteOutcome, WrittenFile } from './write-plan.js';

const words: Readonly<Record<WriteOutcome, string>> = {
  written: 'wrote',
  extended: 'added .self-heal/ to',
  overwritten: 'overwrote',
  unchanged: 'unchanged',
  left: 'kept',
};

const dryWords: Readonly<Record<WriteOutcome, string>> = {
  ...words,
  written: 'would write',
  extended: 'would add .self-heal/ to',
  overwritten: 'would overwrite',
  left: 'would keep',
};

/** Renders one line per file. For a file that was kept, the line says how to overwrite it. */
export function initLines(files: readonly WrittenFile[], dryRun: boolean): string {
  const lines = files.map(({ file, outcome }) => {
    const line = `${(dryRun ? dryWords : words)[outcome]} ${file.name}`;
    return outcome === 'left' ? `${line} (it differs; --force overwrites it)` : line;
  });
  return `${lines.join('\n')}\n`;
}

/** Renders the content of each file that would be written, under its name. */
export function initTexts(files: readonly WrittenFile[]): string {
  return files
    .filter(({ outcome }) => outcome !== 'unchanged' && outcome !== 'left')
    .map(({ file }) => `\n--- ${file.name}\n${file.text.replace(/\r?\n$/, '')}\n`)
    .join('');
}
