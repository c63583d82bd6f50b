import { expect, it } from 'vitest';
import type { Category } from '../../../src/core/diagnosis.js';
import { groupCauses } from '../../../src/core/group.js';
import { failing } from '../../rig/builders.js';

it('HL-6 puts deep classes first, because their fixes often heal what shows on the page', () => {
  const failures = (['ui-error', 'runtime-error', 'unknown', 'build-error'] as const).map(
    (category: Category) => {
      const one = failing(category, category);
      return { ...one, diagnosis: { ...one.diagnosis, category } };
    },
  );
  expect(groupCauses(failures).map(({ id, lead }) => [id, lead.diagnosis.category])).toEqual([
    ['c1', 'build-error'],
    ['c2', 'runtime-error'],
    ['c3', 'ui-error'],
    ['c4', 'unknown'],
  ]);
});
