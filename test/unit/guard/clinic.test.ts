import { describe, expect, it } from 'vitest';
import { clinic, clinicRequest, clinicUndecided } from '../../../fixtures/guard/clinic.mjs';
import { judge } from '../../../src/guard/judge.js';
import { judgeEach } from './judge-each.js';

describe('HN-3 HN-4 a clinic in CommonJS whose tests require a package of the workspace', () => {
  judgeEach(clinic, clinicRequest, clinicUndecided);

  const judged = (part: string) => {
    const [, , edits, category] = clinic.find(([, what]) => what.includes(part))!;
    return judge(clinicRequest(edits, category));
  };

  it('HN-3 exchanges inputs in a JSON file of the tests', async () => {
    const { otherInput } = await judged('corrected for the patients of the tests');
    const [file] = otherInput?.files ?? [];
    expect(file?.path).toBe('tests/data/patients.json');
    const born = JSON.parse(file?.after ?? '') as readonly { born: string; age: number }[];
    expect(born.map((one) => [one.born, one.age])).toEqual([
      ['1931-04-03', 99],
      ['2020-10-11', 10],
    ]);
  });

  it('HN-3 names for the reviewer a text that the fix returns for one input and the tests use', async () => {
    const { notes } = await judged('answered without the database');
    expect(notes.map(({ says }) => says)).toEqual([
      'the fix adds "Ida Holm", which the healed test uses too',
    ]);
  });
});
