import type { Problem } from '../problem.js';
import { counted } from '../outputs/format.js';
import { localDay } from '../outputs/local-time.js';
import { idsMeant } from '../run/ids-meant.js';
import type { Quarantine } from '../store/store.js';
import { escalationOf } from '../run/answer-escalation.js';
import { asEntry, asPage } from '../outputs/escalation-text.js';
import { withStore } from '../store/with-store.js';
import { hasChosen, proveChosen } from './prove-chosen.js';
import { resolveEscalation, type ResolveOptions } from './resolve-escalation.js';
import { print } from './end.js';

/** The flags of all `self-heal escalations` commands. */
export interface EscalationsOptions {
  agents?: string;
  store?: string;
  json?: boolean;
}

/** Runs `self-heal escalations list`; returns the exit code, or the problem with the store. */
export function listEscalations(options: EscalationsOptions & { all?: boolean }): Promise<number | Problem> {
  return withStore(options, async (store) => {
    const found = (await store?.escalations(options.all ? null : 'pending')) ?? [];
    if (options.json) return print({ schemaVersion: 1, escalations: found });
    return print(found.length === 0 ? 'Nothing needs review.' : found.map(asEntry).join('\n'));
  });
}

/** Runs `self-heal escalations show`. */
export function showEscalation(id: string, options: EscalationsOptions): Promise<number | Problem> {
  return withStore(options, async (store) => {
    const found = await escalationOf(store, id);
    if (!found.ok) return found.error;
    return print(options.json ? { schemaVersion: 1, ...found.value } : asPage(found.value));
  });
}

/** Runs `self-heal escalations resolve`. */
export async function resolveNamed(
  id: string,
  options: EscalationsOptions & ResolveOptions,
): Promise<number | Problem> {
  const answered = await withStore(options, async (store) => {
    const asked = await escalationOf(store, id);
    if (!asked.ok) return asked.error;
    return store === null ? 0 : resolveEscalation(store, asked.value, options);
  });
  if (typeof answered === 'number' || 'kind' in answered) return answered;
  if (hasChosen(answered)) return proveChosen(answered, options);
  return options.json ? print({ schemaVersion: 1, ...answered }) : 0;
}

/** Runs `self-heal escalations quarantine`: lists the tests whose failure is accepted for now, or releases them (ME-7). */
export function quarantined(
  word: string | undefined,
  { release = false, all = false, json, ...flags }: EscalationsOptions & { release?: boolean; all?: boolean },
): Promise<number | Problem> {
  return withStore(flags, async (store) => {
    const found = quarantinesMeant(word, (await store?.quarantines()) ?? []);
    if (!release) {
      if (json) return print({ schemaVersion: 1, quarantines: found });
      return print(found.length === 0 ? 'No test is quarantined.' : found.map(quarantineLine).join('\n'));
    }
    if (found.length === 0) return noneMeant(word);
    if (found.length > 1 && !all) return severalMeant(found);
    await store?.release(found.map(({ testId }) => testId));
    if (json) return print({ schemaVersion: 1, released: found });
    const names = found.map(({ name }) => `  ${name}`).join('\n');
    return print(`${counted(found.length, 'test')} released:\n${names}`);
  });
}

function quarantinesMeant(word: string | undefined, all: readonly Quarantine[]): readonly Quarantine[] {
  if (word === undefined) return all;
  const byEscalation = idsMeant(word, [...new Set(all.map(({ escalationId }) => escalationId))]);
  if (byEscalation.length === 1) return all.filter(({ escalationId }) => byEscalation.includes(escalationId));
  return all.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()));
}

function quarantineLine({ name, escalationId, since, until }: Quarantine): string {
  return `${escalationId}  since ${localDay(since)}, until ${localDay(until)}  ${name}`;
}

function noneMeant(word: string | undefined): Problem {
  return {
    kind: 'usage',
    message: word === undefined ? 'no test is quarantined' : `no quarantined test matches ${word}`,
    remedy: 'self-heal escalations quarantine lists those that are quarantined.',
  };
}

function severalMeant(found: readonly Quarantine[]): Problem {
  return {
    kind: 'usage',
    message: `this matches ${counted(found.length, 'test')}`,
    detail: found.map(quarantineLine).join('\n'),
    remedy: 'Name one of them, or release all of these with --all.',
  };
}
