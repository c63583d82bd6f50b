import { z } from 'zod';
import type { TestResult } from '../suite-run.js';
import { type PlaywrightReport, type ReportedTest, createTestKey } from './report.js';

/** A report without its name. */
export type ReadReport = Omit<PlaywrightReport, 'name'>;

export const shardShape = z
  .object({ current: z.int().positive(), total: z.int().positive().max(10_000) })
  .refine(({ current, total }) => current <= total, 'is not a shard');

export const statusShape = z.enum(['passed', 'failed', 'timedOut', 'skipped', 'interrupted']);

const commitShape = z.string().regex(/^[\da-f]{7,64}$/);

/** The config in Playwright's JSON and blob reports. */
export const configShape = z.object({
  shard: shardShape.nullish(),
  metadata: z
    .object({
      gitCommit: z.object({ hash: commitShape }).optional().catch(undefined),
      ci: z.object({ commitHash: commitShape.optional() }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** Returns the commit that Playwright recorded, or null. */
export function findCommit({ metadata }: z.infer<typeof configShape>): string | null {
  return metadata?.gitCommit?.hash ?? metadata?.ci?.commitHash ?? null;
}

const testShape = z.object({
  projectName: z.string(),
  expectedStatus: statusShape,
  status: z.enum(['expected', 'unexpected', 'flaky', 'skipped']),
  results: z.array(z.object({ duration: z.number() })),
});

interface JsonSuite {
  readonly title: string;
  readonly specs: readonly { readonly title: string; readonly tests: readonly z.infer<typeof testShape>[] }[];
  readonly suites?: readonly JsonSuite[] | undefined;
}

const suiteShape: z.ZodType<JsonSuite> = z.lazy(() =>
  z.object({
    title: z.string(),
    specs: z.array(z.object({ title: z.string(), tests: z.array(testShape) })),
    suites: z.array(suiteShape).optional(),
  }),
);

const reportShape = z.object({
  config: configShape,
  suites: z.array(suiteShape),
  errors: z.array(z.unknown()),
});

/** Reads a report of Playwright's JSON reporter. Throws if it is damaged. */
export function readJsonReport(text: string): ReadReport {
  const { config, suites, errors } = reportShape.parse(JSON.parse(text));
  return {
    shard: config.shard ?? { current: 1, total: 1 },
    commit: findCommit(config),
    isSuiteRed: errors.length > 0,
    tests: suites.flatMap((top) => listTests([], top)),
  };
}

function listTests(
  parentTitles: readonly string[],
  { title, specs, suites = [] }: JsonSuite,
): ReportedTest[] {
  const titles = [...parentTitles, title];
  const ownTests = specs.flatMap((spec) =>
    spec.tests.map((result) => ({
      key: createTestKey(result.projectName, [...titles, spec.title]),
      outcome: determineOutcome(result),
      durationMs: result.results.at(-1)?.duration ?? 0,
    })),
  );
  return [...ownTests, ...suites.flatMap((nested) => listTests(titles, nested))];
}

/** In Playwright's reports, tests that should have run and did not are `skipped`, too. */
function determineOutcome({
  status: outcome,
  expectedStatus,
}: z.infer<typeof testShape>): TestResult['outcome'] {
  return outcome === 'skipped' && expectedStatus !== 'skipped' ? 'not-run' : outcome;
}
