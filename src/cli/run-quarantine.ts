import { idsMeant } from '../run/ids-meant.js';
import type { Problem } from '../problem.js';
import { counted } from '../outputs/format.js';
import { localDay } from '../outputs/local-time.js';
import type { Store, Quarantine } from '../store/store.js';
import { withStore } from '../store/with-store.js';
import { print } from './end.js';

/** The flags of `self-heal quarantine`. */
export interface QuarantineOptions {
  agents?: string;
  json?: boolean;
  release?: boolean;
  all?: boolean;
}

/** Runs `self-heal quarantine`; returns the exit code, or the problem with the arguments. */
export function runQuarantine(
  word: string | undefined,
  options: QuarantineOptions,
): Promise<number | Problem> {
  return withStore(options, (store) =>
    options.release ? release(store, word, options) : list(store, word, options),
  );
}

async function list(
  store: Store | null,
  word: string | undefined,
  { json }: QuarantineOptions,
): Promise<number> {
  const found = meant(word, (await store?.quarantines()) ?? []);
  if (json) return print({ schemaVersion: 1, quarantines: found });
  return print(found.length === 0 ? 'No test is quarantined.' : found.map(asEntry).join('\n'));
}

async function release(
  store: Store | null,
  word: string | undefined,
  { all = false, json }: QuarantineOptions,
): Promise<number | Problem> {
  const found = meant(word, (await store?.quarantines()) ?? []);
  if (found.length === 0) return unclear(word, [], 'self-heal quarantine lists those that are quarantined.');
  if (found.length > 1 && !all)
    return unclear(word, found, 'Name one of them, or release all of these with --all.');
  await store?.release(found.map(({ testId }) => testId));
  if (json) return print({ schemaVersion: 1, released: found });
  return print(
    `${counted(found.length, 'test')} released:\n${found.map(({ name }) => `  ${name}`).join('\n')}`,
  );
}

function meant(word: string | undefined, all: readonly Quarantine[]): readonly Quarantine[] {
  if (word === undefined) return all;
  const byEscalation = idsMeant(word, [...new Set(all.map(({ escalationId }) => escalationId))]);
  if (byEscalation.length === 1) return all.filter(({ escalationId }) => byEscalation.includes(escalationId));
  return all.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()));
}

function asEntry({ name, escalationId, since, until }: Quarantine): string {
  return `${escalationId}  since ${localDay(since)}, until ${localDay(until)}  ${name}`;
}

function unclear(word: string | undefined, found: readonly Quarantine[], remedy: string): Problem {
  const none = word === undefined ? 'no test is quarantined' : `no quarantined test matches ${word}`;
  return {
    kind: 'usage',
    message: found.length === 0 ? none : `this matches ${counted(found.length, 'test')}`,
    ...(found.length === 0 ? {} : { detail: found.map(asEntry).join('\n') }),
    remedy,
  };
}
