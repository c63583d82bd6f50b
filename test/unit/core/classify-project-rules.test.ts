import { expect, it } from 'vitest';
import { createClassify } from '../../../src/core/classify/classify.js';
import { noProjectRules, type ProjectRule } from '../../../src/core/classify/project-rules.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

const proxyDown: ProjectRule = {
  id: 'proxy-down',
  category: 'network-error',
  pattern: '^upstream (?:gone|away)',
  sources: ['console', 'server'],
  retry: 'env_error',
};
const console = [logged('TypeError: x is not a function'), logged('upstream gone')];

it('CS-9 a rule of the project outranks the built-in ones, and is named in the diagnosis', () => {
  const classify = createClassify({ ...noProjectRules, rules: [proxyDown] });
  const diagnosis = classify(failing(locatorTimeout, { console }));
  expect(diagnosis).toMatchObject({ category: 'network-error', retry: 'env_error', confidence: 1 });
  expect(diagnosis.why[0]).toMatchObject({ rule: 'project/proxy-down', evidence: 'upstream gone' });
  expect(diagnosis.alternatives).toEqual(['runtime-error', 'ui-error']);
});

it('CS-9 a rule of the project looks only at its sources', () => {
  const classify = createClassify({ ...noProjectRules, rules: [{ ...proxyDown, sources: ['error'] }] });
  expect(classify(failing(locatorTimeout, { console })).category).toBe('runtime-error');
});

it('CS-9 a rule without a retry axis leaves the axis to the built-in rules', () => {
  const classify = createClassify({ ...noProjectRules, rules: [{ ...proxyDown, retry: null }] });
  expect(classify(failing(locatorTimeout, { console })).retry).toBe('code_error');
});

it('CS-9 what the project ignores decides nothing', () => {
  const classify = createClassify({ ...noProjectRules, ignore: ['x is not a function'] });
  expect(classify(failing(locatorTimeout, { console })).category).toBe('ui-error');
});

it('CS-9 a built-in rule can be switched off', () => {
  const evidence = failing(locatorTimeout, { network: [request({ status: 409 })] });
  expect(createClassify()(evidence).category).toBe('network-error');
  const classify = createClassify({ ...noProjectRules, off: ['network/own-request-4xx'] });
  expect(classify(evidence).category).toBe('ui-error');
});
