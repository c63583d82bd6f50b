import type { FileEdit } from './edit.js';
import type { TestCode } from './test-code.js';

const comment = /(?<![:'"`\\])\/\/.*|\/\*[^]*?\*\//g;
const word = /[\w$]+|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;

/** Whether all words of the old text are in the new one, in their order: only what kept it from being parsed was changed. */
export function isRepaired({ before, after }: FileEdit): boolean {
  const [olds, news] = [before, after].map((one) => one?.text?.replace(comment, '').match(word) ?? []);
  return olds !== undefined && olds.length > 0 && olds.join('\n') === news?.join('\n');
}

/** Whether only imports that led nowhere were changed, to files that were there: nothing that such a file says was ever run. */
export function isReconnected({ path, before, after }: FileEdit, old: TestCode, now: TestCode): boolean {
  const next = now.parsed.get(path)?.imports ?? [];
  const mended = (old.parsed.get(path)?.imports ?? []).reduce((text, source, index) => {
    const leads = (one: string) => one.startsWith('.') && old.importedFile(path, one) !== null;
    const to = next[index] ?? '';
    return !leads(source) && leads(to) ? text.replace(source, () => to) : text;
  }, before?.text ?? '');
  return mended === after?.text;
}
