import type { Violation } from '../../core/guard/violation.js';
import { violationOf } from '../rules.js';
import type { ConfigEntry } from '../tests/config.js';

/** Settings that say how a run is shown, not what it checks. */
const harmless =
  /(?:^|\.)(?:outputDir|metadata|quiet|reportSlowTests|workers|fullyParallel|use\.(?:trace|video|screenshot|testIdAttribute))(?:\.|$)/;

/** Settings that may be lowered; without them Playwright's default holds, which is 0 for retries. */
const lowered: readonly (readonly [pattern: RegExp, fallback: number])[] = [
  [/(?:^|\.)expect\.timeout$/, 5000],
  [/(?:^|\.)(?:actionTimeout|navigationTimeout|globalTimeout)$/, Infinity],
  [/^webServer(?:\..*)?\.timeout$/, 60_000],
  [/(?:^|\.)timeout$/, 30_000],
  [/(?:^|\.)retries$|(?:maxDiffPixels|maxDiffPixelRatio|threshold)$/, 0],
];

/** What an agent changed in the Playwright config: only what lowers a limit, or how a run is shown, may change (HN-3). */
export function compareConfig(before: readonly ConfigEntry[], after: readonly ConfigEntry[]): Violation[] {
  const [olds, news] = [byPath(before), byPath(after)];
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((path) => {
    const [old, now] = [olds.get(path), news.get(path)];
    if (harmless.test(path) || old?.value === now?.value || isKnownReporter(path, now)) return [];
    const limit = lowered.find(([pattern]) => pattern.test(path));
    if (limit && isLowered(old, now, limit[1])) return [];
    const { file = '', line = null } = now ?? old ?? {};
    const [before, after] = [old?.source ?? null, now?.source ?? null];
    return [violationOf('config-changed', { file, line, before, after, detail: path || 'as a whole' })];
  });
}

/** A reporter of Playwright's own only reports; one from a file may do anything. */
function isKnownReporter(path: string, now: ConfigEntry | undefined): boolean {
  return path === 'reporter' && !/"[^"]*[./@][^"]*"/.test((now?.value ?? '').replaceAll(/: "[^"]*"/g, ''));
}

/** The last one of a path counts, as in JavaScript. */
function byPath(entries: readonly ConfigEntry[]): Map<string, ConfigEntry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

type Entry = ConfigEntry | undefined;

function isLowered(old: Entry, now: Entry, fallback: number): boolean {
  const [from = NaN, to = NaN] = [old, now].map((one) => {
    const amount = one ? Number(one.value) : fallback;
    // 0 is no limit for times, and nothing for the rest.
    return amount === 0 && fallback >= 5000 ? Infinity : amount;
  });
  return to <= from;
}
