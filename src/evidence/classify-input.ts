import { z } from 'zod';
import type { Evidence } from '../core/evidence.js';
import { jsonOf } from '../json-of.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

// Data that other processes wrote: a field that is missing or has another type gets a neutral value.

const text = z.string().catch('');
const textOrNull = z.string().nullable().catch(null);
const number = z.number().catch(0);
const numberOrNull = z.number().nullable().catch(null);
const texts = z.record(z.string(), text).catch({});

const consoleEntry = z.object({
  time: number,
  type: z.string().catch('log'),
  text,
  location: text,
  stack: textOrNull,
});

const networkEntry = z.object({
  time: number,
  method: text,
  url: text,
  resourceType: text,
  status: numberOrNull,
  durationMs: numberOrNull,
  failure: textOrNull,
  requestHeaders: texts,
  responseHeaders: texts,
  requestBody: textOrNull,
  responseBody: textOrNull,
});

/** The format of the failures to classify: the text of one error, one JSON document, or one JSON document a line. */
export type ClassifyFormat = 'text' | 'json' | 'jsonl';

/** One failure to classify. */
interface ClassifyRecord {
  /** The record's own id, or null. */
  readonly id: string | null;
  readonly evidence: Evidence;
}

/** How to read an input. */
interface ClassifyInputOptions {
  readonly format: ClassifyFormat;
  /** The project's root, for records that do not specify one. */
  readonly rootDir: string;
}

/** A record's own id, or null. */
export const recordId = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((id) => (id === undefined || id === null ? null : String(id)));

/** Also accepts a string instead of an object; `objectOf` makes it the one required field. */
function orText<S extends z.ZodType>(shape: S, objectOf: (text: string) => object) {
  return z.preprocess((given) => (typeof given === 'string' ? objectOf(given) : given), shape);
}

const error = z
  .object({
    name: textOrNull,
    message: z.string(),
    stack: textOrNull,
    snippet: textOrNull,
    causes: z.array(z.string()).catch([]),
  })
  .transform(({ name, message, ...rest }) => {
    const isNamed = !name || name === 'Error' || message.includes(name);
    return { message: isNamed ? message : `${name}: ${message}`, location: null, ...rest };
  });

// A bare line counts as an error: whoever wrote it down considered it worth mentioning.
const consoleLine = consoleEntry
  .extend({ type: textOrNull, level: textOrNull, text: z.string() })
  .transform(({ type, level, ...rest }) => ({ type: type ?? level ?? 'error', ...rest }));

const request = networkEntry.extend({ method: z.string().catch('GET'), url: z.string() });

/** A record of a corpus or a `context.json` (AG-2); fields of the same name mean the same in both. */
const recordShape = z.object({
  id: recordId,
  error: orText(error, (message) => ({ message })),
  failedStep: textOrNull,
  console: z.array(orText(consoleLine, (line) => ({ text: line }))).nullish(),
  network: z.array(orText(request, requestIn)).nullish(),
  serverOutput: text,
  ofOthers: z.array(z.string()).catch([]),
  ariaSnapshot: textOrNull,
  pageUrl: textOrNull,
  project: z.object({ root: z.string() }).nullish().catch(null),
});

/** Parses the input of `self-heal classify`; the `Problem` names the line that cannot be parsed. */
export function readClassifyInput(
  input: string,
  { format, rootDir }: ClassifyInputOptions,
): Result<readonly ClassifyRecord[], Problem> {
  const shape = recordShape.transform(({ id, error: only, project, console, network, ...rest }) => ({
    id,
    evidence: {
      ...rest,
      errors: [only],
      console: console ?? [],
      network: network ?? [],
      screenshot: null,
      trace: null,
      sources: [],
      missing: [],
      cut: [],
      rootDir: project?.root ?? rootDir,
    },
  }));
  const example = '{"error": {"message": "…"}}';
  if (format === 'text') return ok([shape.parse({ error: input })]);
  if (format === 'jsonl') return readJsonLines(input, shape, example);
  const read = readJson(input, shape);
  return read.ok ? ok([read.value]) : err(unreadable('the input', example, read.error));
}

/** Treats the input as JSON if it is a JSON object, otherwise as text: pasted input has no label. */
export function classifyFormatOf(input: string): Exclude<ClassifyFormat, 'jsonl'> {
  return input.trimStart().startsWith('{') && jsonOf(input) !== undefined ? 'json' : 'text';
}

/** Parses every non-empty line as JSON of this shape; the `Problem` names the first line that is not. */
export function readJsonLines<T>(
  input: string,
  shape: z.ZodType<T>,
  example: string,
): Result<readonly T[], Problem> {
  const records: T[] = [];
  for (const [index, line] of input.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const read = readJson(line, shape);
    if (!read.ok) return err(unreadable(`line ${index + 1}`, example, read.error));
    records.push(read.value);
  }
  return ok(records);
}

function readJson<T>(input: string, shape: z.ZodType<T>): Result<T, string> {
  const value = jsonOf(input);
  if (value === undefined) return err('this is not JSON');
  const read = shape.safeParse(value);
  return read.success ? ok(read.data) : err(z.prettifyError(read.error));
}

function unreadable(where: string, example: string, why: string): Problem {
  return {
    kind: 'input-unreadable',
    message: `${where} is not a failure to classify`,
    remedy: `write each as a JSON object with at least ${example}`,
    detail: why,
  };
}

/** Parses `POST /api/orders 500`, with or without an arrow, and `GET http://… net::ERR_…`. */
function requestIn(line: string) {
  const [, method, url] = /\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(\S+)/i.exec(line) ?? [];
  const [, status] = /(?:^|[\s(])([1-5]\d\d)(?=$|[\s).,:])/.exec(line) ?? [];
  const [failure] = /\b(?:net::ERR_\w+|NS_ERROR_\w+|ECONN\w+|ENOTFOUND|ETIMEDOUT)\b/.exec(line) ?? [];
  const fallback = /https?:\/\/\S+|\/\S+/.exec(line)?.[0] ?? line;
  return {
    method: method?.toUpperCase(),
    url: url ?? fallback,
    status: status ? Number(status) : null,
    failure,
  };
}
