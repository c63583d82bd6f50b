import { anEnd } from '../../rig/builders.js';
import { Chalk } from 'chalk';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { proofScope } from '../../../src/core/proof.js';
import type { Report, ReportCause } from '../../../src/run/report.js';
import { summaryOf, type SummaryOptions } from '../../../src/outputs/summary.js';
import { aReport, aReportAttempt, aReportCause, aReportTest, hostileTexts } from '../../rig/a-report.js';

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
const escalations = [
  { id: 'ask-1a2b', stored: true, causeId: 'c3', state: 'pending' as const, question: 'the key has expired' },
];

const show = (given: Partial<Report>, options: Partial<SummaryOptions> = {}) =>
  summaryOf(aReport({ tests: [test('t1'), test('t2')], ...given }), {
    paint,
    columns: 80,
    ...options,
  }).split('\n');

it('RP-1 shows the class, reasons, agent, proof, files and cost of a heal, and how to review and undo it', () => {
  expect(show({ causes: [healed] })).toEqual([
    '',
    'self-heal  GREEN  0 passed · 2 healed · 1 agent run · $0.02 · 41s',
    '  ✓ c1 healed · runtime-error · TimeoutError: locator.click: Timeout 3000ms',
    '    exceeded.',
    '      why     console: boom',
    '      tests   [chromium] › tests/cart.spec.ts:12 › cart › t1 (+1)',
    '      try 1   /debugger (claude) 4.2s, $0.02 → green',
    '      proof   red red | green green | red | green',
    '      files   src/orders.ts +2 −1',
    '  review  npx self-heal report 20260101-000000-0001 --patch',
    '  undo    npx self-heal undo 20260101-000000-0001',
    '  report  npx self-heal report 20260101-000000-0001 --open',
    '',
  ]);
});

it('RP-1 breaks the line of figures only between figures', () => {
  const lines = show({ causes: [healed] }, { columns: 62 });
  expect(lines.slice(1, 3)).toEqual(['self-heal  GREEN  0 passed · 2 healed · 1 agent run · $0.02 ·', '41s']);
  expect(show({ causes: [healed] }, { columns: 46 }).slice(1, 3)).toEqual([
    'self-heal  GREEN  0 passed · 2 healed ·',
    '1 agent run · $0.02 · 41s',
  ]);
});

it.each([
  [['proven', 'proven'], 'each of 2 tests'],
  [['proven', 'green'], '1 of 2 tests; the other is green with the fix'],
  [['proven', 'green', 'green'], '1 of 3 tests; the other 2 are green with the fix'],
  [['proven', 'green', 'red'], '1 of 3 tests; of the others 1 green with the fix, 1 still red'],
] as const)('HL-6 says of how many tests a fix is proven: %j', (ends, said) => {
  expect(proofScope(ends.map((ended, n) => ({ id: `t${n}`, proof: [], ended })))).toBe(said);
});

it('RP-1 CL-5 says why a green run has another exit code', () => {
  const [headline] = show({ exitCode: 1, causes: [healed] }).slice(1);
  expect(headline).toContain('GREEN  exit code 1 by a --fail-on flag · ');
});

it('RP-1 puts what is left to a person first, each with its next command', () => {
  expect(show({ outcome: 'escalated', causes: [healed, left, asked], escalations }).slice(2)).toEqual([
    '  ? c3 needs review · runtime-error · TypeError: boom',
    '      why     console: boom',
    '      tests   [chromium] › tests/cart.spec.ts:12 › cart › t1',
    '      end     the key has expired',
    '      next    npx self-heal escalations resolve ask-1a2b',
    '  ✗ c2 failed · runtime-error · TypeError: boom',
    '      why     console: boom',
    '      tests   [chromium] › tests/cart.spec.ts:12 › cart › t1',
    '              2 tries before, $0.20',
    ...[3, 4, 5].flatMap((n) => [
      `      try ${n}   /debugger (claude) 4.2s, $0.10 → still red, reverted (the same`,
      '              error)',
    ]),
    '      end     no approach is left',
    '      next    npx self-heal inspect 20260101-000000-0001 c2 --prompt',
    '  ✓ c1 healed · runtime-error · TimeoutError: locator.click: Timeout 3000ms',
    '    exceeded.',
    '      why     console: boom',
    '      tests   [chromium] › tests/cart.spec.ts:12 › cart › t1 (+1)',
    '      try 1   /debugger (claude) 4.2s, $0.02 → green',
    '      proof   red red | green green | red | green',
    '      files   src/orders.ts +2 −1',
    '  review  npx self-heal report 20260101-000000-0001 --patch',
    '  undo    npx self-heal undo 20260101-000000-0001',
    '  report  npx self-heal report 20260101-000000-0001 --open',
    '',
  ]);
});

it.each([
  [60, undefined, 40],
  [300, undefined, 40],
  [300, 24, 23],
  [300, 50, 40],
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

it('RP-1 wraps sentences, cuts names in the middle, and never cuts a command', () => {
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
  expect(lines.find((line) => line.includes('tests  '))).toMatch(
    /\[chromium\] › tests.*….*at last it is paid$/,
  );
  expect(lines.join('').match(/ y\b/g)).toHaveLength(300);
  expect(lines.filter((line) => line.includes('npx self-heal') && line.includes('…'))).toEqual([]);
});

it('RP-1 shows the only cause in full, also if that takes more rows than the screen has', () => {
  const because = Array.from({ length: 60 }, (_, n) => `reason ${n}`).join(', ');
  const attempts = [1, 2, 3].map((n) => aReportAttempt({ n, end: anEnd('still-failing', because) }));
  const lines = show({ causes: [{ ...left, attempts }] }, { rows: 24 });
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain('reason 58, reason 59');
  expect(lines.filter((line) => line.startsWith('      next'))).toHaveLength(1);
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

it('RP-1 uses only colors that are readable on light and dark backgrounds', () => {
  const tests = [test('t1', { verdict: 'flaky' }), test('t2', { verdict: 'quarantined' })];
  const outcomes = ['green', 'red', 'escalated'] as const;
  const causes = [healed, left, asked];
  const text = outcomes
    .flatMap((outcome) =>
      show({ outcome, causes, tests, warnings: ['w'] }, { paint: new Chalk({ level: 3 }) }),
    )
    .join('');
  // oxlint-disable-next-line no-control-regex -- matches colors
  const codes = new Set([...text.matchAll(/\u001b\[([0-9;]*)m/g)].map(([, code]) => code));
  // Bold, dim, red, green, magenta, and their resets.
  expect([...codes].toSorted()).toEqual(['1', '2', '22', '31', '32', '35', '39']);
});
