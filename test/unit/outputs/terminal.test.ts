import stringWidth from 'string-width';
import { Chalk } from 'chalk';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { StampedEvent } from '../../../src/event.js';
import { reduce, emptyRun } from '../../../src/run/run-state.js';
import { isLive } from '../../../src/outputs/streams.js';
import { terminalReporter } from '../../../src/outputs/terminal.js';
import { agentAtWork, healed, redRun } from '../../rig/a-run-of-events.js';
import { ScreenStream } from '../../rig/terminal-screen.js';

const unpainted = new Chalk({ level: 0 });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function shownRun(columns = 80, rows = 24, options: { live?: boolean; level?: 0 | 3 } = {}) {
  const stream = new ScreenStream(columns, rows);
  let now = 0;
  let run = emptyRun();
  const { level = 0, live = true, ...rest } = options;
  const reporter = terminalReporter({
    stream,
    paint: level === 0 ? unpainted : new Chalk({ level }),
    live,
    now: () => now,
    ...rest,
  });
  const take = async (events: readonly StampedEvent[]) => {
    for (const event of events) {
      now = event.time;
      run = reduce(run, event);
      reporter.handle(event, run);
    }
    // The code that draws the region is loaded on demand.
    await vi.dynamicImportSettled();
    vi.advanceTimersByTime(300);
  };
  const shown = () => stream.screen.screen().map((line) => line.replace(/^\S self-heal /, '* self-heal '));
  const close = () => void reporter.close?.();
  return { stream, take, shown, close, all: () => stream.screen.all().join('\n') };
}

it('CL-13 RP-1 shows a line for each cause with phase, agent, time and cost, and what the agent did last', async () => {
  const { take, shown, close } = shownRun();
  await take(redRun(3));
  await take(agentAtWork('c1', 'Edit src/cart.ts', 10_000));
  await take(healed('c1', 13_000));
  await take(agentAtWork('c2', 'Read src/orders.ts', 20_000));
  expect(shown().slice(-5)).toEqual([
    '* self-heal 1 of 3 causes done, 1 healed · 22s · $0.02',
    '  ✓ c1 healed · /debugger (claude) · 4s · $0.02 · runtime-error: TypeError: to…',
    '  ▸ c2 runtime-error · agent working, try 1, 1s · /debugger (claude) · 2s total',
    '      Read src/orders.ts',
    '  … 1 cause to go',
  ]);
  close();
});

it('CL-13 shows how long it waits, and the progress of a suite run', async () => {
  const { take, shown, close } = shownRun();
  await take(redRun(1));
  await take([
    { type: 'suite.started', purpose: 'confirm', tests: 300, causeId: null, time: 10_000 },
    { type: 'suite.progress', done: 12, total: 300, failed: 11, test: 'cart.spec.ts:3 › adds', time: 11_000 },
  ]);
  expect(shown().slice(-4)).toEqual([
    '* self-heal 0 of 1 cause done, 0 healed · 11s',
    '  ▸ confirming: 300 tests, 1s',
    '      12/300 cart.spec.ts:3 › adds',
    '  … 1 cause to go',
  ]);
  await take([
    {
      type: 'agent.retrying',
      causeId: 'c1',
      attempt: 2,
      delayMs: 10_000,
      reason: 'overloaded',
      time: 12_000,
    },
  ]);
  expect(shown()).toContain('  ▸ c1 runtime-error · waiting 10s');
  close();
});

it('CL-13 leaves the terminal to the user’s reporter during the first suite run', async () => {
  const { stream, take, close } = shownRun();
  const [started, suite] = redRun(0);
  await take([started, suite].filter((event) => event !== undefined));
  await take([{ type: 'suite.progress', done: 1, total: 2, failed: 0, test: 'a', time: 3000 }]);
  expect(stream.written).toEqual([]);
  close();
});

it('RP-1 draws a region of bounded height, even with 300 causes', async () => {
  const { stream, take, shown, close } = shownRun();
  await take(redRun(300));
  const done = Array.from({ length: 40 }, (_, index) => index + 1);
  await take(done.flatMap((n) => healed(`c${n}`, n * 10_000)));
  await take(agentAtWork('c41', 'works', 500_000));
  const header = shown().findIndex((line) => line.startsWith('* self-heal'));
  expect(shown().length - header).toBe(12);
  expect(shown().slice(header)).toEqual([
    expect.stringMatching(/40 of 300 causes done, 40 healed · .* · \$0\.80/),
    ...Array.from({ length: 8 }, (_, index): unknown => expect.stringContaining(`✓ c${33 + index} healed`)),
    expect.stringContaining('▸ c41 runtime-error · agent working'),
    '      works',
    '  … 259 causes to go',
  ]);
  expect(stream.screen.all().filter((line) => line.includes('causes done'))).toHaveLength(1);
  close();
});

it('RP-1 keeps what others print meanwhile complete, above the live view', async () => {
  const { stream, take, shown, close } = shownRun();
  await take(redRun(2));
  await take(agentAtWork('c1', 'works', 10_000));
  stream.write('interrupted: stopping agents, browsers and servers …\n');
  vi.advanceTimersByTime(500);
  const lines = shown();
  const at = lines.indexOf('interrupted: stopping agents, browsers and servers …');
  expect(lines[at + 1]).toMatch(/^\* self-heal 0 of 2 causes done/);
  close();
});

it('EV-10 RP-1 strips terminal control characters from an agent’s activity, and measures wide characters', async () => {
  const { stream, take, shown, close } = shownRun(40, 12);
  await take(redRun(1));
  await take(
    agentAtWork(
      'c1',
      '\u001b[2J\u001b[1;1H\u001b]0;title\u0007\rgone\n日本語の長い説明です 👩‍💻 é\u0301 '.repeat(9),
      10_000,
    ),
  );
  const activity = shown().at(-1) ?? '';
  expect(activity).toMatch(/^ {6}gone 日本語の長い説明です/);
  expect(stringWidth(activity)).toBeLessThan(40);
  expect(stream.written.join('')).not.toContain('\u001b[2J');
  expect(stream.written.join('')).not.toContain('title');
  close();
});

it('CL-6 CL-13 draws nothing on a terminal that does not know its size', () => {
  expect(isLive({}, { isTTY: true, columns: 0 })).toBe(false);
});
