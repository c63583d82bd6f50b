import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderGithubAnnotations, renderGithubOutputs } from '../../../src/outputs/github.js';
import { renderCode, renderMarkdown, escapeProse, summaryBytes } from '../../../src/outputs/markdown.js';
import type { Report } from '../../../src/run/report.js';
import { aReport, aReportCause, aReportTest, hostileTexts } from '../../rig/a-report.js';

const root = { workspace: '/repo', project: '/repo' };
const read = (given: Partial<Report>, places = root) =>
  renderGithubAnnotations(aReport(given), places).map((line) => asRunner(line));
const failed = aReportCause({ verdict: 'failed', reason: 'no more' });

describe('annotations', () => {
  it('RP-3 have paths relative to the repository if the project is a part of it', () => {
    const places = { workspace: '/repo', project: '/repo/packages/shop' };
    const causes = [{ ...failed, source: 'src/cart.ts:7:3' }];
    expect(read({ causes }, places)[0]?.properties['file']).toBe('packages/shop/src/cart.ts');
    const tests = [aReportTest({ file: '../../e2e/cart.spec.ts' })];
    expect(read({ causes: [failed], tests }, places)[0]?.properties['file']).toBe('e2e/cart.spec.ts');
  });

  it('RP-3 are one command each, whatever text they contain', () => {
    const check = (text: string) => {
      const tests = [aReportTest({ title: [text, text], file: `${text}/a.ts`, project: text })];
      const causes = [{ ...failed, headline: text, reason: text, source: `src/${text}.ts:1:1` }];
      const lines = renderGithubAnnotations(aReport({ tests, causes }), root);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/[\r\n]/);
      const { level, properties } = asRunner(lines.join('\n'));
      expect(level).toBe('error');
      expect(Object.keys(properties).toSorted()).toEqual(['file', 'line', 'title']);
      expect(properties['title']).toBe('self-heal: c1 failed · runtime-error');
    };
    for (const text of hostileTexts) check(text);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), check));
  });

  it('RP-3 stop at fifty, the limit of GitHub, with a count of the rest', () => {
    const causes = Array.from({ length: 5000 }, () => failed);
    const found = read({ causes });
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toMatchObject({ level: 'warning', message: '4950 more causes: see the summary' });
  });
});

describe('outputs', () => {
  it('RP-3 cannot be forged by a folder’s name', () => {
    const folder = 'x\nEOF\noutcome=green\noutcome<<EOF\ngreen\nEOF';
    const given = { ...aReport(), outcome: 'red' as const };
    expect(asOutputs(renderGithubOutputs(given, folder, 'random'))).toMatchObject({ outcome: 'red', folder });
  });
});

/** Reads a workflow command as the runner does: to the first `::`, properties at commas, then unescaped. */
function asRunner(line: string) {
  const end = line.indexOf('::', 2);
  expect(line.startsWith('::') && end > 0).toBe(true);
  const [level = '', ...rest] = line.slice(2, end).split(' ');
  const pairs = rest
    .join(' ')
    .split(',')
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  const properties = Object.fromEntries(
    pairs.map(([key, value = '']) => [key, unescaped(value.replaceAll('%3A', ':').replaceAll('%2C', ','))]),
  ) as Record<string, string>;
  return { level, properties, message: unescaped(line.slice(end + 2)) };
}

function unescaped(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

/** Reads $GITHUB_OUTPUT as the runner does: `name=value`, or `name<<delimiter` up to the delimiter on a line. */
function asOutputs(text: string): Record<string, string> {
  const lines = text.split('\n');
  const outputs: Record<string, string> = {};
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [name, delimiter] = line.split('<<');
    if (line === '') continue;
    if (name === undefined || delimiter === undefined) throw new Error(`not expected: ${line}`);
    outputs[name] = lines.splice(0, lines.indexOf(delimiter)).join('\n');
    lines.shift();
  }
  return outputs;
}

const folder = '.self-heal/runs/r1';
const show = (given: Partial<Report>, maxBytes?: number) =>
  renderMarkdown(aReport(given), { folder, ...(maxBytes === undefined ? {} : { maxBytes }) });

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
    expect(escapeProse('<b>*x* [a](b) `c` |d| @all #1')).toBe(
      String.raw`\<b\>\*x\* \[a\](b) \`c\` \|d\| @<!-- -->all \#<!-- -->1`,
    );
  });

  it('RP-3 cannot end its code span', () => {
    expect(renderCode('a')).toBe('`a`');
    expect(renderCode('`a` ``b``')).toBe('``` `a` ``b`` ```');
    expect(renderCode(' \n ')).toBe('none');
  });
});
