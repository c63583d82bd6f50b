import { expect, it } from 'vitest';
import { agentsFor } from '../../../src/core/policy.js';
import { aDiagnosed, aDiagnosis, anError } from '../../rig/builders.js';

const routes = {
  'build-error': ['build-doctor'],
  'database-error': ['database'],
  'runtime-error': ['debugger'],
  'ui-error': ['code-review', 'build-doctor'],
  'network-error': ['debugger'],
  unknown: ['debugger'],
  flaky: ['debugger'],
};
const diagnosis = aDiagnosis({ category: 'build-error', alternatives: ['ui-error'] });
const suite = (file: string) => ({
  diagnosis,
  failure: {
    scope: 'suite' as const,
    stderr: '',
    errors: [
      anError(`SyntaxError: ${file}: Unexpected token (3:10)`, { location: { file, line: 3, column: 10 } }),
    ],
  },
});

it('CS-7 tries the agents of the class, then those of the alternatives, each once', () => {
  const failed = { ...aDiagnosed(), diagnosis };
  expect(agentsFor(failed, routes)).toEqual(['build-doctor', 'code-review']);
});

it('HN-3 leaves a spec that does not compile to a person, and routes it to no agent', () => {
  expect(agentsFor(suite('/project/tests/cart.spec.ts'), routes)).toEqual([]);
  expect(agentsFor(suite('/project/src/cart.ts'), routes)).not.toEqual([]);
});
