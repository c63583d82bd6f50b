import type { Problem } from '../problem.js';
import { escalationOf } from '../run/answer-escalation.js';
import { asEntry, asPage } from '../outputs/escalation-text.js';
import { withStore } from '../store/with-store.js';
import { resolveEscalation, type ResolveOptions } from './resolve-escalation.js';
import { print } from './end.js';

/** The flags of all `self-heal escalations` commands. */
export interface EscalationsOptions {
  agents?: string;
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
export function resolveNamed(
  id: string,
  options: EscalationsOptions & ResolveOptions,
): Promise<number | Problem> {
  return withStore(options, async (store) => {
    const asked = await escalationOf(store, id);
    if (!asked.ok) return asked.error;
    return store === null ? 0 : resolveEscalation(store, asked.value, options);
  });
}
