import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { escalationOf } from '../run/answer-escalation.js';
import { asEntry, asPage } from '../outputs/escalation-text.js';
import { withStore } from '../store/open-project-store.js';
import { resolveEscalation, type ResolveOptions } from './resolve-escalation.js';

/** The flags that every `self-heal escalations` takes. */
export interface EscalationsOptions {
  agents?: string;
  json?: boolean;
}

/** `self-heal escalations list`: gives the exit code, or the problem of the store. */
export function listEscalations(options: EscalationsOptions & { all?: boolean }): Promise<number | Problem> {
  return withStore(options, async (store) => {
    const found = (await store?.escalations(options.all ? null : 'pending')) ?? [];
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ schemaVersion: 1, escalations: found }, null, 2)}\n`);
    } else if (found.length === 0) process.stdout.write('Nothing needs review.\n');
    else process.stdout.write(`${found.map(asEntry).join('\n')}\n`);
    return exitCodes.green;
  });
}

/** `self-heal escalations show`. */
export function showEscalation(id: string, options: EscalationsOptions): Promise<number | Problem> {
  return withStore(options, async (store) => {
    const found = await escalationOf(store, id);
    if (!found.ok) return found.error;
    const page = options.json
      ? JSON.stringify({ schemaVersion: 1, ...found.value }, null, 2)
      : asPage(found.value);
    process.stdout.write(`${page}\n`);
    return exitCodes.green;
  });
}

/** `self-heal escalations resolve`. */
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
