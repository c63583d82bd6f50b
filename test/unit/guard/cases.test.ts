import { describe, expect, it } from 'vitest';
import { guardCases } from '../../../fixtures/guard/cases.mjs';
import { judged, leftOut, refusals } from './judged.js';

const of = (kind: 'cheat' | 'honest') => guardCases.filter((one) => one.kind === kind);

describe('HN-3 HN-4 cheats are stopped, and honest fixes are kept', () => {
  it.each(of('cheat'))('HN-3 stops $what ($category)', async ({ edits, category, found }) => {
    const findings = await judged(edits, category, found);
    expect([...refusals(findings), ...findings.cut.map(({ file }) => file)]).not.toEqual([]);
  });

  it.each(of('honest'))('HN-3 keeps $what ($category)', async ({ edits, category, found }) => {
    const findings = await judged(edits, category, found);
    expect(refusals(findings)).toEqual([]);
    expect(edits.map(([file]) => file).filter((file) => !leftOut(findings).includes(file))).not.toEqual([]);
  });
});
