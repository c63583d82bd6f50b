import {
  type FlakeSearch,
  listRepeatedTests,
  MAX_REPEATS,
  type RunByIds,
} from '../../src/clients/flaky/trials.js';
import type { SuiteRun, TestResult } from '../../src/playwright/suite-run.js';
import { aSuiteRun, aTest } from './builders.js';

/** The circumstances of one run of a test. */
export interface TestSurroundings {
  /** Titles that ran before it in its process. */
  readonly before: readonly string[];
  /** Titles that run at the same time. */
  readonly beside: readonly string[];
  /** The index of its worker slot. */
  readonly slot: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Decides by title whether a test is red; a test without an entry is green. */
export type RedConditions = Readonly<Record<string, (around: TestSurroundings) => boolean>>;

interface SimulatedOptions {
  readonly configured?: number;
  /** Returns the relative delay of a test or worker, from 0 to 1. */
  readonly jitter?: () => number;
}

/** Simulates a suite as Playwright runs it: files on free workers, one process per repetition, in virtual time. */
export function simulatedSuite(
  files: Readonly<Record<string, readonly string[]>>,
  reds: RedConditions,
  { configured = 4, jitter = () => 0 }: SimulatedOptions = {},
) {
  let [now, processes, tests] = [0, 0, 0];
  const idOf = (title: string, repeat: number) => `${title}#${repeat}`;
  const refs = new Map(
    Object.entries(files).flatMap(([file, titles]) =>
      titles.map(
        (title) =>
          [
            title,
            aTest(idOf(title, 0), {
              titlePath: [file, title],
              location: { file: `/project/${file}`, line: 1, column: 1 },
            }),
          ] as const,
      ),
    ),
  );
  const run: RunByIds = async ({ ids, args, env }) => {
    const flag = (name: string) => /=(\d+)/.exec(args.find((one) => one.startsWith(name)) ?? '')?.[1];
    const [repeats, workers] = [Number(flag('--repeat-each') ?? 1), Number(flag('--workers') ?? configured)];
    const wanted = ids && new Set(ids);
    const free = Array.from({ length: workers }, () => ({
      at: now,
      repeat: -1,
      process: 0,
      before: [] as string[],
    }));
    const ran: {
      title: string;
      id: string;
      from: number;
      to: number;
      slot: number;
      process: number;
      before: string[];
    }[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1)
      for (const titles of Object.values(files)) {
        const chosen = titles.filter((title) => !wanted || wanted.has(idOf(title, repeat)));
        if (chosen.length === 0) continue;
        const [worker] = free.toSorted((a, b) => a.at - b.at);
        if (!worker) break;
        const slot = free.indexOf(worker);
        if (worker.repeat !== repeat)
          Object.assign(worker, {
            repeat,
            process: (processes += 1),
            before: [],
            at: worker.at + 20 * jitter(),
          });
        for (const title of chosen) {
          const from = worker.at;
          worker.at += 10 + 10 * jitter();
          ran.push({
            title,
            id: idOf(title, repeat),
            from,
            to: worker.at,
            slot,
            process: worker.process,
            before: [...worker.before],
          });
          worker.before.push(title);
        }
      }
    now = Math.max(...free.map(({ at }) => at)) + 1;
    tests += ran.length;
    const rows = ran.map((one): TestResult => {
      const beside = ran.filter(
        (other) => other.process !== one.process && other.from < one.to && other.to > one.from,
      );
      const around = { before: one.before, beside: beside.map(({ title }) => title), slot: one.slot, env };
      const isRed = reds[one.title]?.(around) ?? false;
      return {
        test: { ...refs.get(one.title)!, id: one.id },
        outcome: isRed ? 'unexpected' : 'expected',
        retries: 0,
        durationMs: one.to - one.from,
        firstTry: { worker: one.process, startedAt: one.from },
      };
    });
    return aSuiteRun({ tests: rows, durationMs: 1000 });
  };
  const list = (repeats: number): Promise<SuiteRun> =>
    Promise.resolve(
      aSuiteRun({
        tests: Array.from({ length: repeats }, (_, repeat) => repeat).flatMap((repeat) =>
          [...refs].map(([title, test]): TestResult => ({
            test: { ...test, id: idOf(title, repeat) },
            outcome: 'not-run',
            retries: 0,
            durationMs: 0,
          })),
        ),
      }),
    );
  return { run, list, ran: () => tests };
}

/** Returns the files of a suite of 60 quick tests and these others. */
export function sixtyTests(more: Readonly<Record<string, readonly string[]>>) {
  const plain = (file: string) => Array.from({ length: 6 }, (_, n) => `${file} ${n}`);
  const files = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => `${name}.spec.ts`);
  return Object.fromEntries(files.map((file) => [file, [...plain(file), ...(more[file] ?? [])]]));
}

/** Creates a search for flaky tests in a simulated suite. */
export async function createFlakeSearch(
  suite: ReturnType<typeof simulatedSuite>,
  over: Partial<FlakeSearch> = {},
): Promise<FlakeSearch> {
  return {
    allTests: listRepeatedTests(await suite.list(MAX_REPEATS)),
    first: over.first ?? (await suite.run({ ids: null, args: [], env: {}, trace: false })),
    isNamed: false,
    suspected: new Set(),
    run: suite.run,
    maxRuns: 200,
    until: 1e9,
    now: () => 0,
    signal: new AbortController().signal,
    warn: () => undefined,
    ...over,
  };
}

/** Creates a seeded random generator (mulberry32). */
export function createRandom(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
