import { z } from 'zod';
import { readBoundedLines, listEntries, inflate, withZip } from '../zip.js';
import { parseJson } from '../../parse-json.js';
import type { TestResult } from '../suite-run.js';
import { findCommit, configShape, type ReadReport, shardShape, statusShape } from './json-report.js';
import { createTestKey } from './report.js';
import { groupBy } from '../../group-by.js';

const testShape = z.object({
  testId: z.string(),
  title: z.string(),
  annotations: z.array(z.object({ type: z.string() })).optional(),
});

interface BlobSuite {
  readonly title: string;
  readonly entries: readonly (BlobSuite | z.infer<typeof testShape>)[];
}

const suiteShape: z.ZodType<BlobSuite> = z.lazy(() =>
  z.object({ title: z.string(), entries: z.array(z.union([testShape, suiteShape])) }),
);

/** The relevant lines; all others are steps, output and attachments. */
const lineShape = z.discriminatedUnion('method', [
  z.object({
    method: z.literal('onBlobReportMetadata'),
    params: z.object({ shard: shardShape.nullish() }),
  }),
  z.object({ method: z.literal('onConfigure'), params: z.object({ config: configShape }) }),
  z.object({
    method: z.literal('onProject'),
    params: z.object({ project: z.object({ name: z.string(), suites: z.array(suiteShape) }) }),
  }),
  z.object({
    method: z.literal('onTestEnd'),
    params: z.object({
      test: z.object({ testId: z.string(), expectedStatus: statusShape }),
      result: z.object({ status: statusShape, duration: z.number() }),
    }),
  }),
  z.object({ method: z.literal('onError') }),
  z.object({
    method: z.literal('onEnd'),
    params: z.object({ result: z.object({ status: z.string() }) }),
  }),
]);

const relevantLine = /^\{"method":"on(?:BlobReportMetadata|Configure|Project|TestEnd|Error|End)"/;
const methodBytes = 64;
/** A project's line contains all its tests, and the end of a test its errors. */
const lineBytes = 64 * 1024 * 1024;
const reportBytes = 1024 * 1024 * 1024;

/** Reads a blob report. Returns null for any other zip file. Rejects with the reason for a damaged one. */
export async function readBlobReport(file: string): Promise<ReadReport | null> {
  return withZip(file, async (zip) => {
    const [report] = await listEntries(zip, (name) => /^report[\w.-]*\.jsonl$/.test(name));
    if (!report) return null;
    const lines: z.infer<typeof lineShape>[] = [];
    await readBoundedLines(inflate(zip, report.entry, reportBytes), lineBytes, ({ bytes, isComplete }) => {
      if (!relevantLine.test(bytes.toString('utf8', 0, methodBytes))) return;
      const { data } = lineShape.safeParse(isComplete ? parseJson(bytes.toString('utf8')) : undefined);
      if (!data) throw new Error('one of its lines does not have the format of a blob report');
      lines.push(data);
    });
    return createReport(lines);
  });
}

type Line = z.infer<typeof lineShape>;
type Try = Extract<Line, { method: 'onTestEnd' }>['params'];

function createReport(lines: readonly Line[]): ReadReport {
  const listLines = <M extends Exclude<Line['method'], 'onError'>>(method: M) =>
    lines.filter((entry): entry is Extract<Line, { method: M }> => entry.method === method);
  const [metadata] = listLines('onBlobReportMetadata');
  const [configured] = listLines('onConfigure');
  const [end] = listLines('onEnd');
  if (!metadata || !configured || !end) throw new Error('it is incomplete');
  const endedTries = listLines('onTestEnd').map(({ params }) => params);
  const tries = groupBy(endedTries, ({ test }) => test.testId);
  return {
    shard: metadata.params.shard ?? { current: 1, total: 1 },
    commit: findCommit(configured.params.config),
    isSuiteRed:
      end.params.result.status === 'interrupted' || lines.some(({ method }) => method === 'onError'),
    tests: listLines('onProject')
      .flatMap(({ params }) => listTests(params.project))
      .map(({ id, key, isSkipped }) => {
        const testTries = tries.get(id) ?? [];
        const durationMs = testTries.at(-1)?.result.duration ?? 0;
        return { key, outcome: determineOutcome(testTries, isSkipped), durationMs };
      }),
  };
}

interface BlobTest {
  readonly id: string;
  readonly key: string;
  /** True if the test is marked with `skip` or `fixme`. */
  readonly isSkipped: boolean;
}

function listTests({
  name,
  suites,
}: {
  readonly name: string;
  readonly suites: readonly BlobSuite[];
}): BlobTest[] {
  const listTestsIn = (parentTitles: readonly string[], { title, entries }: BlobSuite): BlobTest[] =>
    entries.flatMap((entry) => {
      if (!('testId' in entry)) return listTestsIn([...parentTitles, title], entry);
      const isSkipped = (entry.annotations ?? []).some(({ type }) => type === 'skip' || type === 'fixme');
      return { id: entry.testId, key: createTestKey(name, [...parentTitles, title, entry.title]), isSkipped };
    });
  return suites.flatMap((top) => listTestsIn([], top));
}

/** Like `TestCase.outcome()` of Playwright, except that a test that should have run is `not-run` instead of `skipped`. */
function determineOutcome(tries: readonly Try[], isSkipped: boolean): TestResult['outcome'] {
  const finished = tries.filter(
    ({ result }) => result.status !== 'skipped' && result.status !== 'interrupted',
  );
  if (finished.length === 0)
    return isSkipped || tries.some(({ test }) => test.expectedStatus === 'skipped') ? 'skipped' : 'not-run';
  const expected = finished.filter(({ test, result }) => test.expectedStatus === result.status);
  if (expected.length === finished.length) return 'expected';
  return expected.length === 0 ? 'unexpected' : 'flaky';
}
