import { z } from 'zod';
import { eachBoundedLine, entriesOf, inflated, withZip } from '../zip.js';
import { jsonOf } from '../../json-of.js';
import type { TestResult } from '../suite-run.js';
import { commitOf, configShape, type ReadReport, shardShape, status } from './json-report.js';
import { testKey } from './report.js';

const test = z.object({
  testId: z.string(),
  title: z.string(),
  annotations: z.array(z.object({ type: z.string() })).optional(),
});

interface BlobSuite {
  readonly title: string;
  readonly entries: readonly (BlobSuite | z.infer<typeof test>)[];
}

const suite: z.ZodType<BlobSuite> = z.lazy(() =>
  z.object({ title: z.string(), entries: z.array(z.union([test, suite])) }),
);

/** The lines that matter; all others are steps, output and attachments. */
const line = z.discriminatedUnion('method', [
  z.object({
    method: z.literal('onBlobReportMetadata'),
    params: z.object({ shard: shardShape.nullish() }),
  }),
  z.object({ method: z.literal('onConfigure'), params: z.object({ config: configShape }) }),
  z.object({
    method: z.literal('onProject'),
    params: z.object({ project: z.object({ name: z.string(), suites: z.array(suite) }) }),
  }),
  z.object({
    method: z.literal('onTestEnd'),
    params: z.object({
      test: z.object({ testId: z.string(), expectedStatus: status }),
      result: z.object({ status, duration: z.number() }),
    }),
  }),
  z.object({ method: z.literal('onError') }),
  z.object({
    method: z.literal('onEnd'),
    params: z.object({ result: z.object({ status: z.string() }) }),
  }),
]);

const wanted = /^\{"method":"on(?:BlobReportMetadata|Configure|Project|TestEnd|Error|End)"/;
const beginning = 64;
/** A project's line names all its tests, and the end of a test has its errors. */
const lineBytes = 64 * 1024 * 1024;
const reportBytes = 1024 * 1024 * 1024;

/** Reads a blob report. Returns null for any other zip file; rejects with what is wrong with a damaged one. */
export async function readBlobReport(file: string): Promise<ReadReport | null> {
  return withZip(file, async (zip) => {
    const [report] = await entriesOf(zip, (name) => /^report[\w.-]*\.jsonl$/.test(name));
    if (!report) return null;
    const lines: z.infer<typeof line>[] = [];
    await eachBoundedLine(inflated(zip, report.entry, reportBytes), lineBytes, ({ bytes, whole }) => {
      if (!wanted.test(bytes.toString('utf8', 0, beginning))) return;
      const { data } = line.safeParse(whole ? jsonOf(bytes.toString('utf8')) : undefined);
      if (!data) throw new Error('a line of it is not as Playwright writes it');
      lines.push(data);
    });
    return reportOf(lines);
  });
}

type Ended = Extract<z.infer<typeof line>, { method: 'onTestEnd' }>['params'];

function reportOf(lines: readonly z.infer<typeof line>[]): ReadReport {
  const [metadata] = lines.flatMap((one) => (one.method === 'onBlobReportMetadata' ? one.params : []));
  const [config] = lines.flatMap((one) => (one.method === 'onConfigure' ? one.params.config : []));
  const [end] = lines.flatMap((one) => (one.method === 'onEnd' ? one.params.result : []));
  if (!metadata || !config || !end) throw new Error('it is incomplete');
  const tries = new Map<string, Ended[]>();
  for (const one of lines) {
    if (one.method !== 'onTestEnd') continue;
    const { testId } = one.params.test;
    tries.set(testId, [...(tries.get(testId) ?? []), one.params]);
  }
  const tests = lines.flatMap((one) => (one.method === 'onProject' ? testsOf(one.params.project) : []));
  return {
    shard: metadata.shard ?? { current: 1, total: 1 },
    commit: commitOf(config),
    isSuiteRed: end.status === 'interrupted' || lines.some(({ method }) => method === 'onError'),
    tests: tests.map(({ id, key, isMarked }) => {
      const ended = tries.get(id) ?? [];
      const durationMs = ended.at(-1)?.result.duration ?? 0;
      return { key, outcome: outcomeOf(ended, isMarked), durationMs };
    }),
  };
}

interface Project {
  readonly name: string;
  readonly suites: readonly BlobSuite[];
}

interface BlobTest {
  readonly id: string;
  readonly key: string;
  /** It is marked as not to be run. */
  readonly isMarked: boolean;
}

function testsOf({ name, suites }: Project): BlobTest[] {
  const within = (above: readonly string[], { title, entries }: BlobSuite): BlobTest[] =>
    entries.flatMap((entry) => {
      if (!('testId' in entry)) return within([...above, title], entry);
      const isMarked = (entry.annotations ?? []).some(({ type }) => type === 'skip' || type === 'fixme');
      return { id: entry.testId, key: testKey(name, [...above, title, entry.title]), isMarked };
    });
  return suites.flatMap((one) => within([], one));
}

/** Like `TestCase.outcome()` of Playwright, except that a test that was to run and did not is `not-run`. */
function outcomeOf(tries: readonly Ended[], isMarked: boolean): TestResult['outcome'] {
  const ran = tries.filter(({ result }) => result.status !== 'skipped' && result.status !== 'interrupted');
  const asExpected = ran.filter((one) => one.test.expectedStatus === one.result.status);
  if (ran.length === 0) {
    const isSkipped = isMarked || tries.some((one) => one.test.expectedStatus === 'skipped');
    return isSkipped ? 'skipped' : 'not-run';
  }
  if (asExpected.length === ran.length) return 'expected';
  return asExpected.length === 0 ? 'unexpected' : 'flaky';
}
