import { anEnd } from '../../rig/builders.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { code, prose, markdownOf, summaryBytes } from '../../../src/outputs/markdown.js';
import type { Report } from '../../../src/run/report.js';
import { aReport, aReportAttempt, aReportCause, aReportTest, hostileTexts } from '../../rig/a-report.js';

const folder = '.self-heal/runs/r1';
const show = (given: Partial<Report>, maxBytes?: number) =>
  markdownOf(aReport(given), { folder, ...(maxBytes === undefined ? {} : { maxBytes }) });
const inC1 = { causeId: 'c1', causeIds: ['c1'] };

describe('the summary', () => {
  it('RP-3 shows each cause with its class, reasons, attempts, proof, files and end', () => {
    const taken = aReportAttempt({ end: anEnd('still-failing', 'the same error') });
    const attempts = [taken, aReportAttempt({ n: 2 })];
    const causes = [aReportCause({ source: 'src/orders.ts:7:3', attempts })];
    const text = show({ tests: [aReportTest({ verdict: 'healed', ...inC1 })], causes });
    expect(text).toBe(`## self-heal: green, exit code 0

0 passed · 1 healed · 1 agent run · $0.02 · 41s

1 root cause.

### ✅ c1 healed · runtime-error

\`TypeError: boom\`

- why: \`console: boom\`
- source: \`src/orders.ts:7:3\`
- tests: \`[chromium] › tests/cart.spec.ts:12 › cart › adds\`
- try 1: /debugger (claude) 4.2s, \\$0.02 → still red, reverted (the same error)
- try 2: /debugger (claude) 4.2s, \\$0.02 → green
- proof: \`red red | green green\`
- files: \`src/orders.ts +2 −1\`
- evidence: \`.self-heal/runs/r1/failures/1/\`

Run 20260101-000000-0001: \`.self-heal/runs/r1/\`
`);
  });
});

describe('its size', () => {
  const long = 'long '.repeat(2000);
  const causes = Array.from({ length: 5000 }, (_, index) =>
    aReportCause({
      id: `c${index + 1}`,
      verdict: index === 4999 ? 'failed' : 'healed',
      headline: long,
      reason: `${index} ${long}`,
    }),
  );

  it('RP-3 stays below the limit with 5,000 causes by leaving out whole causes, and says so', () => {
    const text = show({ causes });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(summaryBytes);
    expect(Buffer.byteLength(text)).toBeGreaterThan(summaryBytes * 0.95);
    const shown = text.match(/^### . c\d+ /gmu)?.length ?? 0;
    expect(text).toContain(`**${5000 - shown} more causes** did not fit here; see report.json.`);
    expect(text.trimEnd().endsWith(`\`${folder}/\``)).toBe(true);
  });

  it('RP-3 is spent first on what a person has to look at', () => {
    expect(/^### (?<title>.*)$/m.exec(show({ causes }))?.groups?.['title']).toContain('c5000 failed');
  });

  it('RP-3 never exceeds any limit, whatever the report contains', () => {
    const text = fc.oneof(
      fc.constantFrom(...hostileTexts),
      fc.string({ unit: 'grapheme' }),
      fc.constant(long),
    );
    fc.assert(
      fc.property(text, fc.nat(3000), fc.nat(40), (some, maxBytes, count) => {
        const many = Array.from({ length: count }, () =>
          aReportCause({ headline: some, reason: some, source: some }),
        );
        const tests = many.map(() => aReportTest({ title: [some, some], verdict: 'flaky' }));
        const warnings = many.map(() => some);
        expect(Buffer.byteLength(show({ causes: many, tests, warnings }, maxBytes))).toBeLessThanOrEqual(
          maxBytes,
        );
      }),
    );
  });
});

describe('text in Markdown', () => {
  it('RP-3 is never markup, HTML, a link, a table cell or a mention', () => {
    expect(prose('<b>*x* [a](b) `c` |d| @all #1')).toBe(
      String.raw`\<b\>\*x\* \[a\](b) \`c\` \|d\| @<!-- -->all \#1`,
    );
  });

  it('RP-3 cannot end its code span', () => {
    expect(code('a')).toBe('`a`');
    expect(code('`a` ``b``')).toBe('``` `a` ``b`` ```');
    expect(code(' \n ')).toBe('none');
  });

  it('RP-3 stays on its line, within its width, with whole characters', () => {
    for (const text of hostileTexts) {
      // oxlint-disable-next-line no-control-regex -- matches control characters
      expect(code(text) + prose(text)).not.toMatch(/[\0-\x1F\x7F-\x9F]/);
    }
    expect(code('👍'.repeat(400), 10)).toBe(`\`${'👍'.repeat(9)}…\``);
  });
});
