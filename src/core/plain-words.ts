import type { Category, Diagnosis } from './diagnosis.js';

/** What the description needs besides the diagnosis. */
export interface Circumstances {
  /** How many tests fail from it. */
  readonly tests: number;
  /** The agent's question, or null. */
  readonly asked: string | null;
}

const whatIsWrong: Record<Category, string> = {
  'build-error': 'The app cannot be built',
  'database-error': 'The database rejects what the app asks of it',
  'runtime-error': 'The app fails while it is being used',
  'network-error': 'A request that the app depends on fails',
  'ui-error': 'The page does not show what the test expects',
  unknown: 'The test fails, and no known reason explains it',
};

/** Says what is wrong to somebody who reads no code: no stack trace, no selector, no query (ME-5). */
export function inPlainWords(diagnosis: Diagnosis, { tests, asked }: Circumstances): string {
  const where = place(diagnosis);
  const many = tests > 1 ? ` ${tests} tests fail because of it.` : '';
  const needs =
    diagnosis.retry === 'never_retry'
      ? ' It needs credentials, a permission or a quota that only a person can give.'
      : '';
  const question = asked === null ? '' : ` The agent asks: ${withoutCode(asked)}`;
  return `${whatIsWrong[diagnosis.category]}${where}.${many}${needs}${question}`;
}

function place({ facts }: Diagnosis): string {
  if (facts.policy !== null && facts.table !== null)
    return `: a security rule of the table ${facts.table} forbids it`;
  if (facts.table !== null) return `, on the table ${facts.table}`;
  if (facts.endpoint !== null) return ` (${facts.endpoint})`;
  const file = facts.source?.replace(/:\d+(?::\d+)?$/, '');
  return file ? `, in ${file}` : '';
}

/** What an agent wrote, without fenced code, stack frames and line ends, at most 400 characters. */
export function withoutCode(text: string): string {
  const kept = text
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' ')
    .split('\n')
    .filter((line) => !/^\s*at\s.+[:(]\S*\d+/.test(line))
    .join(' ');
  return kept.replaceAll(/\s+/g, ' ').trim().slice(0, 400);
}
