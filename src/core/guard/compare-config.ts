import type { ConfigEntry } from './outline.js';
import type { Violation } from './violation.js';

/** Settings that say how a run is shown, not what it checks. */
const harmless =
  /(?:^|\.)(?:outputDir|metadata|quiet|reportSlowTests|workers|fullyParallel|use\.(?:trace|video|screenshot|testIdAttribute))(?:\.|$)/;

/** Settings that may be lowered; without them Playwright's default holds, which is 0 for retries. */
const lowered: readonly (readonly [pattern: RegExp, rule: string, fallback: number])[] = [
  [/(?:^|\.)retries$/, 'retries-raised', 0],
  [/(?:^|\.)expect\.timeout$/, 'timeout-raised', 5000],
  [/(?:^|\.)(?:actionTimeout|navigationTimeout|globalTimeout)$/, 'timeout-raised', Infinity],
  [/^webServer(?:\..*)?\.timeout$/, 'timeout-raised', 60_000],
  [/(?:^|\.)timeout$/, 'timeout-raised', 30_000],
  [/(?:maxDiffPixels|maxDiffPixelRatio|threshold)$/, 'snapshot-loosened', 0],
];

const families: readonly (readonly [RegExp, string, string])[] = [
  [
    /(?:^|\.)(?:testDir|testMatch|testIgnore|grep|grepInvert|shard|repeatEach|maxFailures)$/,
    'selection-changed',
    'which tests run was changed',
  ],
  [/^projects/, 'projects-changed', 'the projects of the config were changed'],
  [
    /(?:napshot|toHaveScreenshot|toMatchSnapshot|toMatchAriaSnapshot|toPass)/,
    'snapshot-loosened',
    'how snapshots are compared was changed',
  ],
  [/^forbidOnly$/, 'only-allowed', 'forbidOnly was changed'],
  [/^webServer/, 'server-changed', 'the web server of the tests was changed'],
  [/^(?:globalSetup|globalTeardown)/, 'setup-changed', 'the global set-up was changed'],
];

/** What an agent changed in the Playwright config: only what lowers a limit, or how a run is shown, may change (HN-3). */
export function compareConfig(before: readonly ConfigEntry[], after: readonly ConfigEntry[]): Violation[] {
  const [olds, news] = [byPath(before), byPath(after)];
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((path) => {
    const [old, now] = [olds.get(path), news.get(path)];
    if (harmless.test(path) || old?.value === now?.value || isKnownReporter(path, now)) return [];
    const limit = lowered.find(([pattern]) => pattern.test(path));
    if (limit)
      return isLowered({ old, now, fallback: limit[2] })
        ? []
        : [violation({ rule: limit[1], says: `${path} was raised`, old, now })];
    const family = families.find(([pattern]) => pattern.test(path));
    return [
      violation({
        rule: family?.[1] ?? 'config-changed',
        says: `${family?.[2] ?? 'the Playwright config was changed'} (${path || 'as a whole'})`,
        old,
        now,
      }),
    ];
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

interface Change {
  readonly old: ConfigEntry | undefined;
  readonly now: ConfigEntry | undefined;
  readonly fallback: number;
}

function isLowered({ old, now, fallback }: Change): boolean {
  const amounts = [old, now].map((one) => (one ? one.amount : fallback));
  const [was, is] = amounts;
  if (was == null || is == null) return false;
  // 0 is no limit for times, and nothing for the rest.
  const isTime = fallback >= 5000;
  const [from, to] = isTime ? [was || Infinity, is || Infinity] : [was, is];
  return to <= from;
}

function violation({
  rule,
  says,
  old,
  now,
}: {
  rule: string;
  says: string;
  old: ConfigEntry | undefined;
  now: ConfigEntry | undefined;
}): Violation {
  const place = now ?? old;
  return {
    rule,
    file: place?.file ?? '',
    line: place?.line ?? null,
    before: old?.source ?? null,
    after: now?.source ?? null,
    says,
  };
}
