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
  const limits = { console: 0, network: MAX_ENTRIES };
  const { reading, requests } = await readTraceLines({ file, limits, notes: new EvidenceNotes(clean) });
  learn(reading.typed);
  const actions = reading.actions.all.map((action) => ({
    ...action,
    title: maskFilledText(action.title, reading.typed),
  }));
  return { actions, requests };
}

const MAX_ENTRIES = 1000;
const MAX_REQUESTS = 4;
const MAX_LENGTH = 240;

/**
 * Describes how a red run of a test differs from a green one, in sentences: the first different step, when it began, and the requests that were late,
 * missing or answered differently by then (FL-2).
 */
export function describeDifference(red: TracedRun, green: TracedRun, root: string): string[] {
  const [reds, greens] = [red, green].map(({ actions }) => actions.filter(isTestAction));
  if (!reds || !greens) return [];
  const at = reds.findIndex(
    (action, index) =>
      action.error !== null || action.endedAt === null || action.title !== greens[index]?.title,
  );
  const [redStep, greenStep] = [reds[at], greens[at]];
  if (!redStep) return [];
  const position = redStep.at ? ` (${relativePath(root, redStep.at.file)}:${redStep.at.line})` : '';
  const describeStart = (run: readonly TraceAction[], action: TraceAction) =>
    `${action.startedAt - getStart(run)} ms`;
  const step = `step ${at + 1}, ${quote(redStep.title)}${position},`;
  if (!greenStep || greenStep.title !== redStep.title)
    return [
      `${step} is the first step that only the red run has; the green one ${greenStep ? `continues with ${quote(greenStep.title)}` : 'ended before it'}`,
    ];
  const describeDuration = (action: TraceAction) =>
    action.endedAt === null ? 'never ended' : `took ${action.endedAt - action.startedAt} ms`;
  return [
    `${step} is the first failed step: it ${describeDuration(redStep)}${redStep.error ? ` and failed with ${quote(redStep.error)}` : ''}; when green it ${describeDuration(greenStep)}`,
    ...(describeStart(reds, redStep) === describeStart(greens, greenStep)
      ? []
      : [
          `it began ${describeStart(reds, redStep)} after the first step when red, ${describeStart(greens, greenStep)} when green`,
        ]),
    ...describeRequestDifferences(red, green, {
      red: [getStart(reds), redStep],
      green: [getStart(greens), greenStep],
    }),
  ].map((line) => line.slice(0, 2 * MAX_LENGTH));
}

const isTestAction = ({ kind, at }: TraceAction) =>
  at !== null && /^(?:pw:api|expect|test\.step)$/.test(kind);
const getStart = (actions: readonly TraceAction[]) => actions[0]?.startedAt ?? 0;
const quote = (text: string) => JSON.stringify(text.split('\n')[0]?.slice(0, MAX_LENGTH) ?? '');

interface ComparedSteps {
  readonly red: readonly [start: number, step: TraceAction];
  readonly green: readonly [start: number, step: TraceAction];
}

/** Compares the requests answered before the end of the failed step. */
function describeRequestDifferences(red: TracedRun, green: TracedRun, steps: ComparedSteps): string[] {
  const getEnd = ({ endedAt, startedAt }: TraceAction) => endedAt ?? startedAt;
  const createRequestKey = ({ method, url }: TracedRun['requests'][number]) =>
    `${method} ${url.replace(/[?#].*/s, '')}`;
  const getEndTime = ({ time, durationMs }: TracedRun['requests'][number]) =>
    durationMs === null ? Infinity : time + durationMs;
  const redRequests = new Map(red.requests.map((request) => [createRequestKey(request), request]));
  const end = getEnd(steps.red[1]);
  return [...new Map(green.requests.map((request) => [createRequestKey(request), request]))]
    .flatMap(([key, request]) => {
      const name = quote(key);
      if (getEndTime(request) > getEnd(steps.green[1])) return [];
      const now = redRequests.get(key);
      const first = `${Math.round(getEndTime(request) - steps.green[0])} ms after the first step when green`;
      if (!now || now.time > end)
        return [`${name} was answered ${first}; when red it had not been sent by then`];
      if (getEndTime(now) > end) return [`${name} was answered ${first}; when red it had no answer by then`];
      if (hasFailed(now) !== hasFailed(request) || now.status !== request.status)
        return [
          `${name} was answered ${request.status ?? request.failure} when green, ${now.status ?? now.failure} when red`,
        ];
      return [];
    })
    .slice(0, MAX_REQUESTS);
}
