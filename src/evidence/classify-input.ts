import { z } from 'zod';
import { parseJson } from '../parse-json.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { list, number, numberOrNull, text, textOrNull } from './trace/loose.js';

const textRecord = z.record(z.string(), text).catch({});
const strings = list(z.string());

/** A record's own id, or null. */
export const recordId = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((id) => (id === undefined || id === null ? null : String(id)));

/** Also accepts a string, which becomes the value of this field, the only required one. */
function acceptString<S extends z.ZodType>(field: string, shape: S) {
  return z.preprocess((given) => (typeof given === 'string' ? { [field]: given } : given), shape);
}

const error = z.object({ message: z.string(), stack: textOrNull, snippet: textOrNull, causes: strings });

// An entry without a type counts as an error, because people mostly record errors.
const entry = z.object({
  time: number,
  type: z.string().catch('error'),
  text: z.string(),
  location: text,
  stack: textOrNull,
});

const request = z.object({
  time: number,
  method: z.string().catch('GET'),
  url: z.string(),
  resourceType: text,
  status: numberOrNull,
  durationMs: numberOrNull,
  failure: textOrNull,
  requestHeaders: textRecord,
  responseHeaders: textRecord,
  requestBody: textOrNull,
  responseBody: textOrNull,
});

/** Creates the shape of one failure as `self-heal classify` reads it: a line of JSON, or a `context.json` (AG-2) with the same field names. */
export function createFailureShape(rootDir: string) {
  const record = z.object({
    id: recordId,
    error: acceptString('message', error),
    failedStep: textOrNull,
    console: z.array(acceptString('text', entry)).nullish(),
    network: z.array(request).nullish(),
    serverOutput: text,
    ofOthers: strings,
    ariaSnapshot: textOrNull,
    pageUrl: textOrNull,
    project: z.object({ root: z.string() }).nullish().catch(null),
  });
  const emptyEvidence = { screenshot: null, trace: null, sources: [], missing: [], cut: [] };
  return record.transform(({ id, error: errorFields, project, console, network, ...otherEvidence }) => ({
    id,
    evidence: {
      ...otherEvidence,
      ...emptyEvidence,
      errors: [{ ...errorFields, location: null }],
      console: console ?? [],
      network: network ?? [],
      rootDir: project?.root ?? rootDir,
    },
  }));
}

/** Parses every non-empty line as JSON of this shape; the `Problem` names the first line that does not match. */
export function readJsonLines<T>(
  input: string,
  shape: z.ZodType<T>,
  example: string,
): Result<readonly T[], Problem> {
  const records: T[] = [];
  for (const [index, line] of input.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const value = parseJson(line);
    const read = shape.safeParse(value);
    if (!read.success)
      return err({
        kind: 'input-unreadable',
        message: `line ${index + 1} is not a failure to classify`,
        remedy: `Write each line as a JSON object with at least ${example}.`,
        detail: value === undefined ? 'This is not JSON.' : z.prettifyError(read.error),
      });
    records.push(read.data);
  }
  return ok(records);
}
