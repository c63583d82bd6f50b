import { describe, expect, it } from 'vitest';
import { talliesOf } from '../../../src/outputs/tallies.js';
import { aReport } from '../../rig/a-report.js';

const texts = (report: Parameters<typeof talliesOf>[0]) => talliesOf(report).map(({ text }) => text);

describe('the figures of a run', () => {
  it('RP-1 leave out what did not happen', () => {
    const report = aReport();
    const totals = { ...report.totals, passed: 0, failed: 1, flaky: 0, agentRuns: 1, costUsd: null };
    expect(texts({ ...report, totals })).toContain('0 passed');
    expect(texts({ ...report, totals })).toContain('1 agent run');
    expect(texts({ ...report, totals }).join()).not.toContain('flaky');
  });

  it('SC-1 say how many shards are missing', () => {
    expect(texts({ ...aReport(), shards: { total: 3, missing: [2] } })).toContain('1 shard missing');
    expect(texts({ ...aReport(), shards: { total: 3, missing: [] } }).join()).not.toContain('shard');
  });

  it('HN-5 say whether heals were proven quickly or not at all', () => {
    const report = aReport();
    const totals = { ...report.totals, healed: 2, greenOnce: 1 };
    expect(texts({ ...report, totals, verify: 'quick' })).toContain('2 healed (quick proof)');
    expect(texts({ ...report, totals, verify: 'full' })).toContain('2 healed');
    expect(texts({ ...report, totals, verify: 'none' })).toContain('1 green once, not proven');
  });
});
