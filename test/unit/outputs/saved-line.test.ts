import { expect, it } from 'vitest';
import { savedLine } from '../../../src/outputs/saved-line.js';
import { markdownOf } from '../../../src/outputs/markdown.js';
import { paletteFor } from '../../../src/outputs/palette.js';
import { summaryOf } from '../../../src/outputs/summary.js';
import { aReport } from '../../rig/a-report.js';

const avoided = [
  { reason: 'flaky', count: 2 },
  { reason: 'open-question', count: 1 },
] as const;
const line = '3 agent runs saved: 2 green when re-run, 1 already waiting for an answer';
const paint = paletteFor({ NO_COLOR: '1' });

it('RP-1 says how many agent runs were avoided and why, in one line', () => {
  expect(savedLine(avoided)).toBe(line);
  expect(savedLine([{ reason: 'environment', count: 1 }])).toBe(
    '1 agent run saved: 1 because of the environment',
  );
});

it('RP-1 says nothing if no agent run was avoided', () => {
  expect(savedLine([])).toBeNull();
});

it('RP-1 RP-2 is in the terminal and the Markdown summary', () => {
  const report = aReport();
  const withAvoided = { ...report, totals: { ...report.totals, agentRunsAvoided: 3, avoided } };
  const screen = summaryOf(withAvoided, { paint, columns: 120 });
  expect(screen.split('\n')).toContain(`  ${line}`);
  expect(markdownOf(withAvoided, { folder: '.self-heal/runs/r' }).split('\n')).toContain(`${line}.`);
  expect(summaryOf(report, { paint, columns: 120 })).not.toContain('saved');
});
