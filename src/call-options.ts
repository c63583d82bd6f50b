import { statSync } from 'node:fs';
import { z } from 'zod';
import { proofDepths } from './model/verification.js';
import type { Problem } from './problem.js';
import { err, ok, type Result, tryOr } from './result.js';

const text = z.string('must be a string');
const folder = text.refine(
  (path) => tryOr(false, () => statSync(path).isDirectory()),
  'is not an existing folder',
);
const flag = z.boolean('must be true or false');
const count = z.int('must be a whole number').min(0, 'must not be negative');
const listOf = (what: string, item: z.ZodType<string> = text) => z.array(item, `must be a list of ${what}`);
const object = z.custom<object>((value) => typeof value === 'object' && value !== null, 'must be an object');
const signal = z.custom<AbortSignal>(
  (value) => typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
  'must be an AbortSignal',
);
const listener = z.custom<() => void>((value) => typeof value === 'function', 'must be a function');
const filters = listOf(
  'strings',
  text.regex(/^(?!-)/, 'must not begin with "-": playwrightArgs takes Playwright options'),
);

const commonOptions = {
  cwd: folder,
  env: object,
  signal,
  onEvent: listener,
  settings: object,
  agentsFile: text,
  wait: flag,
  config: text,
  project: listOf('strings'),
};

const testOptions = {
  ...commonOptions,
  tests: filters,
  playwrightArgs: listOf('strings'),
  dryRun: flag,
  grep: text,
  grepInvert: text,
  shard: text,
  workers: z.union([text, count], 'must be a text or a whole number'),
  repeatEach: count,
  retries: count,
  timeout: count,
  lastFailed: flag,
  onlyChanged: z.union([text, flag], 'must be a string, true or false'),
  x: flag,
  maxFailures: count,
  headed: flag,
};

/** The options that each function of the library takes (CL-15). */
const options = {
  heal: {
    ...testOptions,
    flaky: flag,
    from: listOf('folders').min(1, 'names no folder with reports'),
  },
  flaky: testOptions,
  verify: {
    ...commonOptions,
    tests: filters,
    base: text,
    depth: z.enum(proofDepths, `must be ${proofDepths.join(' or ')}`),
    review: flag,
  },
  blame: { ...commonOptions, base: text, test: text },
};

/** Checks the options of a call and reports all mistakes in one problem. */
export function checkOptions(call: keyof typeof options, given: unknown): Result<null, Problem> {
  const schema = z.strictObject(options[call], {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `no option is called ${keys?.join(', ')}`
        : 'the options must be an object',
  });
  const read = schema.partial().safeParse(given);
  if (read.success) return ok(null);
  const mistakes = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')} ${message}`,
  );
  return err({
    kind: 'usage',
    message: `${call}() got invalid options: ${mistakes.join('; ')}`,
    remedy: 'See docs/library.md or the TypeScript types for the options.',
  });
}
