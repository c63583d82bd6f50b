import { Chalk } from 'chalk';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StampedEvent } from '../../../src/event.js';
import { truncate, wrap } from '../../../src/outputs/truncate.js';
import { type SummaryOptions, renderSummary } from '../../../src/outputs/summary.js';
import { createTerminalReporter } from '../../../src/outputs/terminal.js';
import type { Report, ReportCause } from '../../../src/run/report.js';
import { createEmptyRun, reduce } from '../../../src/run/run-state.js';
import { aReport, aReportAttempt, aReportCause, aReportTest, hostileTexts } from '../../rig/a-report.js';
import { agentAtWork, healed as healing, redRun } from '../../rig/a-run-of-events.js';
import { anEnd } from '../../rig/builders.js';
import { ScreenStream } from '../../rig/terminal-screen.js';

it.each([
  ['exactly 10', 10, 'exactly 10'],
  ['one more than ten', 10, 'one more …'],
  ['日本語の説明', 7, '日本語…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['👍🏽👍🏽👍🏽', 5, '👍🏽👍🏽…'],
  ['anything', 0, ''],
])('RP-1 cuts %j to %d columns as %j', (text, width, expected) => {
  expect(truncate(text, width)).toBe(expected);
});

it('RP-1 never returns more columns than there are, or terminal control characters', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 0, max: 80 }),
      fc.constantFrom('end', 'middle'),
      (given, width, from) => {
        const line = truncate(given, width, { from });
        expect(stringWidth(line)).toBeLessThanOrEqual(width);
        // oxlint-disable-next-line no-control-regex -- matches terminal control characters
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      },
    ),
  );
});

it('RP-1 wraps a sentence without losing a word, and leaves it whole without a width', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^\S{1,40}$/u)),
      fc.integer({ min: 20, max: 90 }),
      (words, width) => {
        // Both are of one text, since a blank is set into what a job's log would take for a command.
        const text = words.join(' ');
        const lines = wrap(text, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(wrap(text, Infinity).join('').replaceAll(' ', ''));
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
    { examples: [[['##[!'], 20]] },
  );
});

const paint = new Chalk({ level: 0 });

const test = (id: string, over = {}) =>
  aReportTest({ id, title: ['cart.spec.ts', 'cart', id], verdict: 'healed', causeId: 'c1', ...over });

const healed = aReportCause({
  headline: 'TimeoutError: locator.click: Timeout 3000ms exceeded.',
  tests: ['t1', 't2'],
  costUsd: 0.02,
  proof: ['red', 'red', 'green', 'green', 'red', 'green'],
});

const left = aReportCause({
  id: 'c2',
  verdict: 'failed',
  reason: 'no approach is left',
  costUsd: 0.4,
  proof: [],
  attempts: [1, 2, 3, 4, 5].map((n) =>
    aReportAttempt({
      n,
      costUsd: 0.1,
      end: anEnd('still-failing', 'the same error'),
    }),
  ),
});

const asked = aReportCause({
  id: 'c3',
  verdict: 'escalated',
  reason: 'the key has expired',
  attempts: [],
  proof: [],
});

const show = (given: Partial<Report>, options: Partial<SummaryOptions> = {}) =>
  renderSummary(aReport({ tests: [test('t1'), test('t2')], ...given }), {
    paint,
    columns: 80,
    ...options,
  }).split('\n');

it('RP-1 shows the title of a test whole, and cuts no word of a list of files', () => {
  const title = [
    'cart.spec.ts',
    'adds a thing to the cart and shows, with its price and the sum of all, how many there are',
  ];
  const tests = [test('t1', { title, verdict: 'flaky' })];
  const lines = show({ tests, causes: [{ ...healed, tests: ['t1'] }] })
    .join(' ')
    .replaceAll(/\s+/g, ' ');
  expect(
    lines.split('adds a thing to the cart and shows, with its price and the sum of all, how many there are'),
  ).toHaveLength(3);
  expect(truncate('src/one.ts, src/two.ts, src/three.ts, src/four.ts', 30, { from: 'middle' })).toBe(
    'src/one.ts, … src/four.ts',
  );
});

it('RP-1 CL-5 says why a green run has another exit code', () => {
  const [headline] = show({ exitCode: 1, causes: [healed] }).slice(1);
  expect(headline).toContain('GREEN  exit code 1 because of a --fail-on flag · ');
});

it.each([
  [60, undefined, 40],
  [300, 24, 23],
  [300, 8, 22],
])('RP-1 fits a screen: %d causes on %s rows take %d lines', (count, rows, most) => {
  const causes = Array.from({ length: count }, (_, index): ReportCause => {
    const kinds = [healed, healed, left, healed, asked];
    return { ...(kinds[index % 5] ?? healed), id: `c${index + 1}` };
  });
  const tests = Array.from({ length: 300 }, (_, index) =>
    test(`t${index}`, { verdict: index % 2 === 0 ? 'flaky' : 'quarantined' }),
  );
  const warnings = Array.from({ length: 50 }, (_, index) => `warning ${index}`);
  const lines = show({ causes, tests, warnings }, { rows });
  expect(lines.length).toBeLessThanOrEqual(most);
  expect(lines.length).toBeGreaterThan(most - 3);
  expect(lines.find((line) => / c\d/.test(line))).toContain('? c5 needs review');
  const shown = lines.filter((line) => /^ {2}[✓✗?] c/.test(line));
  const hidden = lines.find((line) => line.includes('… and') && line.includes('inspect')) ?? '';
  expect(hidden).toContain(`… and ${count - shown.length} more (`);
  expect(hidden).toMatch(/: npx self-heal inspect 20260101-000000-0001$/);
  for (const line of lines) expect(stringWidth(line)).toBeLessThan(80);
});

it('RP-1 wraps sentences, wraps titles, cuts files in the middle, never cuts a command', () => {
  const deep = `tests/${'very/'.repeat(20)}deep.spec.ts`;
  const long = {
    ...left,
    headline: 'x'.repeat(500),
    reason: 'y '.repeat(300),
    attempts: [aReportAttempt({ files: [{ path: `src/${'d/'.repeat(60)}a.ts`, added: 1, removed: 0 }] })],
  };
  const tests = [test('t1', { file: deep, title: ['a', 'at last it is paid'] })];
  const lines = show({ causes: [long], tests, warnings: ['z '.repeat(200)] });
  for (const line of lines) expect(stringWidth(line)).toBeLessThan(80);
  expect(lines.join('').replaceAll(/\s/g, '')).toContain('very/very/deep.spec.ts:12›atlastitispaid');
  expect(lines.find((line) => line.includes('files  '))).toContain('…');
  expect(lines.join('').match(/ y\b/g)).toHaveLength(300);
  expect(lines.filter((line) => line.includes('npx self-heal') && line.includes('…'))).toEqual([]);
});

it('EV-10 RP-1 keeps texts of pages, tests and agents on their lines', () => {
  for (const text of hostileTexts) {
    const cause = { ...left, headline: text, reason: text || 'none' };
    const hostile = { causes: [cause], tests: [test('t1', { title: ['a', text] })], warnings: [text] };
    const lines = show(hostile, { columns: Infinity });
    const plain = show({ causes: [left], tests: [test('t1')], warnings: ['w'] }, { columns: Infinity });
    expect(lines).toHaveLength(plain.length);
    // oxlint-disable-next-line no-control-regex -- matches terminal control characters
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u0080-\u009f]/);
  }
});

describe('terminal', () => {
  const unpainted = new Chalk({ level: 0 });

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function shownRun(columns = 80, rows = 24, options: { live?: boolean; level?: 0 | 3 } = {}) {
    const stream = new ScreenStream(columns, rows);
    let now = 0;
    let run = createEmptyRun();
    const { level = 0, live = true, ...rest } = options;
    const reporter = createTerminalReporter({
      stream,
      paint: level === 0 ? unpainted : new Chalk({ level }),
      isLive: live,
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

  it('CL-13 RP-1 a line for each cause has phase, agent, time, cost, the agent’s last action', async () => {
    const { take, shown, close } = shownRun();
    await take(redRun(3));
    await take(agentAtWork('c1', 'Edit src/cart.ts', 10_000));
    await take(healing('c1', 13_000));
    await take(agentAtWork('c2', 'Read src/orders.ts', 20_000));
    expect(shown().slice(-5)).toEqual([
      '* self-heal 1 of 3 causes done, 1 healed · 22s · $0.02',
      '  ✓ c1 healed · /debugger (claude) · 4s · $0.02 · runtime-error: TypeError: …',
      '  ▸ c2 runtime-error · agent working, try 1, 1s · /debugger (claude) · 2s total',
      '      Read src/orders.ts',
      '  … 1 cause to go',
    ]);
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
    await take(done.flatMap((n) => healing(`c${n}`, n * 10_000)));
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

  it('RP-1 keeps other output complete, above the live view', async () => {
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
});
