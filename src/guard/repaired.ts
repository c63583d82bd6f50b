import type { FileEdit } from './edit.js';
import type { TestCode } from './test-code.js';

const comment = /(?<![:'"`\\])\/\/.*|\/\*[^]*?\*\//g;
const word = /[\w$]+|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;

/** Whether both texts have the same words in the same order, apart from comments: only what kept the old one from parsing has changed. */
export function isRepaired({ before, after }: FileEdit): boolean {
  const [olds, news] = [before, after].map((one) => one?.text?.replace(comment, '').match(word) ?? []);
  return olds !== undefined && olds.length > 0 && olds.join('\n') === news?.join('\n');
}

/** Whether the only changes are broken imports that now lead to files that existed before. Nothing in a file with a broken import ever ran. */
export function isReconnected({ path, before, after }: FileEdit, old: TestCode, now: TestCode): boolean {
  const next = now.parsed.get(path)?.imports ?? [];
  const mended = (old.parsed.get(path)?.imports ?? []).reduce((text, source, index) => {
    const leads = (one: string) => one.startsWith('.') && old.importedFile(path, one) !== null;
    const to = next[index] ?? '';
    return !leads(source) && leads(to) ? text.replace(source, () => to) : text;
  }, before?.text ?? '');
  return mended === after?.text;
}
