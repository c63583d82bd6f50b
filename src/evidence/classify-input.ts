import { z } from 'zod';
import type { ConsoleEntry, Evidence, NetworkEntry } from '../core/evidence.js';
import type { TestError } from '../core/failure.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** How a failure to classify is written: an error's text, one JSON document, or one JSON document a line. */
export type ClassifyFormat = 'text' | 'json' | 'jsonl';

/** One failure to classify. */
export interface ClassifyRecord {
  /** What the record calls itself, or null. */
  readonly id: string | null;
  readonly evidence: Evidence;
}

/** How to read an input. */
export interface ClassifyInputOptions {
  readonly format: ClassifyFormat;
  /** The project's root, for records that do not name it. */
  readonly rootDir: string;
}

const errorShape = z.union([
  z.string(),
  z.object({
    name: z.string().nullish(),
    message: z.string(),
    stack: z.string().nullish(),
    snippet: z.string().nullish(),
    causes: z.array(z.string()).nullish(),
  }),
]);

const consoleShape = z.union([
  z.string(),
  z.object({
    time: z.number().nullish(),
    type: z.string().nullish(),
    level: z.string().nullish(),
    text: z.string(),
    location: z.string().nullish(),
    stack: z.string().nullish(),
  }),
]);

const headersShape = z.record(z.string(), z.string()).nullish();
const networkShape = z.union([
  z.string(),
  z.object({
    time: z.number().nullish(),
    method: z.string().nullish(),
    url: z.string(),
    resourceType: z.string().nullish(),
    status: z.number().nullish(),
    durationMs: z.number().nullish(),
    failure: z.string().nullish(),
    requestHeaders: headersShape,
    responseHeaders: headersShape,
    requestBody: z.string().nullish(),
    responseBody: z.string().nullish(),
  }),
]);

/** A record of a corpus and a `context.json` (AG-2) alike: what both call by the same name means the same. */
const recordShape = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  error: errorShape,
  failedStep: z.string().nullish(),
  console: z.array(consoleShape).nullish(),
  network: z.array(networkShape).nullish(),
  serverOutput: z.string().nullish(),
  ariaSnapshot: z.string().nullish(),
  pageUrl: z.string().nullish(),
  project: z.object({ root: z.string() }).nullish().catch(null),
});

type Loose = z.infer<typeof recordShape>;

/** Reads the failures that `self-heal classify` is given; a `Problem` names the line that cannot be read. */
export function readClassifyInput(
  text: string,
  { format, rootDir }: ClassifyInputOptions,
): Result<readonly ClassifyRecord[], Problem> {
  if (format === 'text') return ok([recordOf({ error: text }, rootDir)]);
  if (format === 'json') {
    const read = readRecord(text, rootDir);
    return read.ok ? ok([read.value]) : err(unreadable('the input', read.error));
  }
  return readLines(text, rootDir);
}

/** Takes an input for JSON where it is a JSON object, else for text: what a person pastes has no label. */
export function classifyFormatOf(text: string): Exclude<ClassifyFormat, 'jsonl'> {
  return text.trimStart().startsWith('{') && parseJson(text).ok ? 'json' : 'text';
}

function readLines(text: string, rootDir: string): Result<readonly ClassifyRecord[], Problem> {
  const records: ClassifyRecord[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const read = readRecord(line, rootDir);
    if (!read.ok) return err(unreadable(`line ${index + 1}`, read.error));
    records.push(read.value);
  }
  return ok(records);
}

function readRecord(text: string, rootDir: string): Result<ClassifyRecord, string> {
  const json = parseJson(text);
  if (!json.ok) return json;
  const shaped = recordShape.safeParse(json.value);
  return shaped.success ? ok(recordOf(shaped.data, rootDir)) : err(z.prettifyError(shaped.error));
}

function parseJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text));
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

function unreadable(where: string, why: string): Problem {
  return {
    kind: 'input-unreadable',
    message: `${where} is not a failure to classify`,
    remedy: 'write each as a JSON object with at least {"error": {"message": "…"}}',
    detail: why,
  };
}

function recordOf(loose: Loose, rootDir: string): ClassifyRecord {
  const evidence: Evidence = {
    errors: [errorOf(loose.error)],
    failedStep: loose.failedStep ?? null,
    console: (loose.console ?? []).map(consoleEntryOf),
    network: (loose.network ?? []).map(networkEntryOf),
    serverOutput: loose.serverOutput ?? '',
    ariaSnapshot: loose.ariaSnapshot ?? null,
    pageUrl: loose.pageUrl ?? null,
    screenshot: null,
    trace: null,
    sources: [],
    missing: [],
    cut: [],
    rootDir: loose.project?.root ?? rootDir,
  };
  return { id: loose.id === undefined || loose.id === null ? null : String(loose.id), evidence };
}

function errorOf(error: Loose['error']): TestError {
  const given = typeof error === 'string' ? { message: error } : error;
  const { name, message, stack, snippet, causes } = {
    name: null,
    stack: null,
    snippet: null,
    causes: null,
    ...given,
  };
  const named = name && name !== 'Error' && !message.includes(name) ? `${name}: ${message}` : message;
  return {
    message: named,
    stack: stack ?? null,
    snippet: snippet ?? null,
    location: null,
    causes: causes ?? [],
  };
}

/** A bare line is taken for an error: whoever wrote it down thought it worth telling. */
function consoleEntryOf(entry: NonNullable<Loose['console']>[number]): ConsoleEntry {
  if (typeof entry === 'string') return { time: 0, type: 'error', text: entry, location: '', stack: null };
  const { time, type, level, text, location, stack } = entry;
  return {
    time: time ?? 0,
    type: type ?? level ?? 'error',
    text,
    location: location ?? '',
    stack: stack ?? null,
  };
}

function networkEntryOf(entry: NonNullable<Loose['network']>[number]): NetworkEntry {
  const given = typeof entry === 'string' ? requestIn(entry) : entry;
  return {
    time: given.time ?? 0,
    method: given.method ?? 'GET',
    url: given.url,
    resourceType: given.resourceType ?? '',
    status: given.status ?? null,
    durationMs: given.durationMs ?? null,
    failure: given.failure ?? null,
    requestHeaders: given.requestHeaders ?? {},
    responseHeaders: given.responseHeaders ?? {},
    requestBody: given.requestBody ?? null,
    responseBody: given.responseBody ?? null,
  };
}

/** Reads `POST /api/orders 500`, with or without an arrow, and `GET http://… net::ERR_…`. */
function requestIn(line: string): Exclude<NonNullable<Loose['network']>[number], string> {
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
