import { type ConsoleEntry, hasFailed, type NetworkEntry, unanswered } from '../../core/evidence.js';
import { relativePath } from '../../relative-path.js';
import { isInside } from '../../workspace/is-inside.js';
import type { TraceAction } from './trace-actions.js';

/** What happened while a test ran. */
export interface Happened {
  readonly actions: readonly TraceAction[];
  /** The action at which the test failed, or null. */
  readonly failing: TraceAction | null;
  readonly console: readonly ConsoleEntry[];
  readonly network: readonly NetworkEntry[];
}

const calls = new Set(['document', 'fetch', 'xhr', 'api', 'websocket', 'eventsource']);
/** An action that took longer tells what it waited for. */
const longMs = 1_000;
const longestText = 500;
const mostErrorLines = 16;

/**
 * Lists in the order of time what a test did and what it saw: its steps with their places and how long they took, requests and the console
 * below the step during which they happened. Of pictures, styles and scripts only those that failed are listed.
 */
export function actionList({ actions, failing, console, network }: Happened, root: string): string {
  const began = Math.min(...actions.map(({ startedAt }) => startedAt), ...console.map(({ time }) => time));
  const depths = depthsOf(actions);
  const during = (time: number) =>
    actions.findLast(({ startedAt, endedAt }) => startedAt <= time && time < (endedAt ?? Infinity));
  const line = (time: number, depth: number, text: string) =>
    `${((time - began) / 1000).toFixed(3).padStart(8)} ${'  '.repeat(depth)}${text}`;
  const seen = (time: number, text: string) => {
    const step = during(time);
    return { time, order: 1, text: line(time, step ? (depths.get(step.id) ?? 0) + 1 : 0, text) };
  };
  const shown = [
    ...actions.map((one) => {
      const depth = depths.get(one.id) ?? 0;
      const below = belowOf(one, one === failing).map(
        (text) => `${' '.repeat(9)}${'  '.repeat(depth)}  ${text}`,
      );
      return {
        time: one.startedAt,
        order: 0,
        text: [line(one.startedAt, depth, stepOf(one, { root, isFailing: one === failing })), ...below].join(
          '\n',
        ),
      };
    }),
    ...network
      .filter((one) => calls.has(one.resourceType) || hasFailed(one))
      .map((one) => seen(one.time, requestOf(one))),
    ...console.map(({ time, type, text, location }) =>
      seen(time, `[${type}] ${cut(text)}${location === '' ? '' : ` (${location})`}`),
    ),
  ];
  return shown
    .toSorted((a, b) => a.time - b.time || a.order - b.order)
    .map(({ text }) => text)
    .join('\n');
}

function depthsOf(actions: readonly TraceAction[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  // A step's parent comes before it.
  for (const { id, parent } of actions) depths.set(id, parent === null ? 0 : (depths.get(parent) ?? -1) + 1);
  return depths;
}

function stepOf(
  { title, at, startedAt, endedAt, error }: TraceAction,
  { root, isFailing }: { root: string; isFailing: boolean },
): string {
  const took = endedAt === null ? 'did not end' : `${endedAt - startedAt} ms`;
  const where =
    at === null ? '' : `, ${isInside(root, at.file) ? relativePath(root, at.file) : at.file}:${at.line}`;
  const mark = isFailing ? '  ← the test failed here' : error === null ? '' : '  ✗';
  return `${cut(title)} (${took}${where})${mark}`;
}

function belowOf({ error, log, startedAt, endedAt }: TraceAction, isFailing: boolean): string[] {
  const isTold = isFailing || error !== null || (endedAt ?? Infinity) - startedAt >= longMs;
  const said = (error ?? '').split('\n').filter((text) => text.trim() !== '');
  // An error often ends with the log.
  const more = isTold ? log.filter((text) => !error?.includes(text.trim())) : [];
  return [...said.slice(0, mostErrorLines), ...more].map((text) => `| ${cut(text)}`);
}

function requestOf({ method, url, status, failure, durationMs }: NetworkEntry): string {
  const took = durationMs === null ? '' : ` (${durationMs} ms)`;
  return `${method} ${cut(url)} → ${failure ?? status ?? unanswered}${took}`;
}

function cut(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ⏎ ');
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line;
}
