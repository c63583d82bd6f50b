import { hasFailed, type NetworkEntry } from '../../model/evidence.js';
import { EvidenceNotes } from '../../evidence/bounded-text.js';
import { maskFilledText } from '../../evidence/trace/masked-trace.js';
import { readTraceLines } from '../../evidence/trace/read-trace.js';
import type { TraceAction } from '../../evidence/trace/trace-actions.js';
import { relativePath } from '../../paths.js';
import type { Redactor } from '../../secrets/redactor.js';

/** The actions and requests of one run of a test, from its trace. */
export interface TracedRun {
  readonly actions: readonly TraceAction[];
  readonly requests: readonly Pick<
    NetworkEntry,
    'method' | 'url' | 'time' | 'durationMs' | 'status' | 'failure'
  >[];
}

/** Reads a trace. Rejects if the file is not a trace. */
export async function readTracedRun(
  file: string,
  { clean, learn }: Pick<Redactor, 'clean' | 'learn'>,
): Promise<TracedRun> {
  const limits = { console: 0, network: MOST_READ };
  const { reading, requests } = await readTraceLines({ file, limits, notes: new EvidenceNotes(clean) });
  learn(reading.typed);
  const actions = reading.actions.all.map((action) => ({
    ...action,
    title: maskFilledText(action.title, reading.typed),
  }));
  return { actions, requests };
}

const MOST_READ = 1000;
const MOST_REQUESTS = 4;
const LONGEST = 240;

/**
 * Describes how a red run of a test differs from a green one, in sentences: the first different step, when it began, and the requests that were late,
 * missing or answered differently by then (FL-2).
 */
export function describeDifference(red: TracedRun, green: TracedRun, root: string): string[] {
  const [reds, greens] = [red, green].map(({ actions }) => actions.filter(isOwn));
  if (!reds || !greens) return [];
  const at = reds.findIndex(
    (action, index) =>
      action.error !== null || action.endedAt === null || action.title !== greens[index]?.title,
  );
  const [was, is] = [reds[at], greens[at]];
  if (!was) return [];
  const position = was.at ? ` (${relativePath(root, was.at.file)}:${was.at.line})` : '';
  const describeStart = (run: readonly TraceAction[], action: TraceAction) =>
    `${action.startedAt - startOf(run)} ms`;
  const step = `step ${at + 1}, ${quote(was.title)}${position},`;
  if (!is || is.title !== was.title)
    return [
      `${step} is the first step that only the red run has; the green one ${is ? `continues with ${quote(is.title)}` : 'ended before it'}`,
    ];
  const describeDuration = (action: TraceAction) =>
    action.endedAt === null ? 'never ended' : `took ${action.endedAt - action.startedAt} ms`;
  return [
    `${step} is the first failed step: it ${describeDuration(was)}${was.error ? ` and said ${quote(was.error)}` : ''}; when green it ${describeDuration(is)}`,
    ...(describeStart(reds, was) === describeStart(greens, is)
      ? []
      : [
          `it began ${describeStart(reds, was)} after the first step when red, ${describeStart(greens, is)} when green`,
        ]),
    ...describeRequestDifferences(red, green, { red: [startOf(reds), was], green: [startOf(greens), is] }),
  ].map((line) => line.slice(0, 2 * LONGEST));
}

const isOwn = ({ kind, at }: TraceAction) => at !== null && /^(?:pw:api|expect|test\.step)$/.test(kind);
const startOf = (actions: readonly TraceAction[]) => actions[0]?.startedAt ?? 0;
const quote = (text: string) => JSON.stringify(text.split('\n')[0]?.slice(0, LONGEST) ?? '');

interface Moment {
  readonly red: readonly [start: number, step: TraceAction];
  readonly green: readonly [start: number, step: TraceAction];
}

/** Compares the requests answered before the end of the failed step. */
function describeRequestDifferences(red: TracedRun, green: TracedRun, when: Moment): string[] {
  const endOf = ({ endedAt, startedAt }: TraceAction) => endedAt ?? startedAt;
  const keyOf = ({ method, url }: TracedRun['requests'][number]) => `${method} ${url.replace(/[?#].*/s, '')}`;
  const answered = ({ time, durationMs }: TracedRun['requests'][number]) =>
    durationMs === null ? Infinity : time + durationMs;
  const of = new Map(red.requests.map((request) => [keyOf(request), request]));
  const end = endOf(when.red[1]);
  return [...new Map(green.requests.map((request) => [keyOf(request), request]))]
    .flatMap(([key, request]) => {
      const name = quote(key);
      if (answered(request) > endOf(when.green[1])) return [];
      const now = of.get(key);
      const first = `${Math.round(answered(request) - when.green[0])} ms after the first step when green`;
      if (!now || now.time > end)
        return [`${name} was answered ${first}; when red it had not been sent by then`];
      if (answered(now) > end) return [`${name} was answered ${first}; when red it had not been by then`];
      if (hasFailed(now) !== hasFailed(request) || now.status !== request.status)
        return [
          `${name} was answered ${request.status ?? request.failure} when green, ${now.status ?? now.failure} when red`,
        ];
      return [];
    })
    .slice(0, MOST_REQUESTS);
}
