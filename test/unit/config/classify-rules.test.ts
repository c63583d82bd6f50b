import { expect, it } from 'vitest';
import { parseAgentsFile } from '../../../src/config/agents-file.js';
import { resolveSettings } from '../../../src/config/load-settings.js';
import { headsOf, markedIn } from './mistakes-in.js';

it('CS-9 rules in agents.yaml become settings', () => {
  const text = `classify:
  rules:
    - { id: proxy, class: network-error, pattern: 'upstream \\w+', sources: [server], retry: env_error }
    - { id: tenant, class: database-error, pattern: no tenant }
  ignore: ['^\\[poll\\]']
  off: [network/own-request-4xx]
`;
  const parsed = parseAgentsFile(text, {});
  if (!parsed.ok) throw new Error('agents.yaml was refused');
  const { classify } = resolveSettings({ file: parsed.value, project: 'shop', filePath: null });
  expect(classify).toEqual({
    rules: [
      {
        id: 'proxy',
        category: 'network-error',
        pattern: 'upstream \\w+',
        sources: ['server'],
        retry: 'env_error',
      },
      {
        id: 'tenant',
        category: 'database-error',
        pattern: 'no tenant',
        sources: ['error', 'stack', 'console', 'network', 'server'],
        retry: null,
      },
    ],
    ignore: ['^\\[poll\\]'],
    off: ['network/own-request-4xx'],
  });
});

it('CF-3 reports every mistake in the rules, each at its position', () => {
  const text = `classify:
  rules:
    - { id: a, class: netwrok-error, pattern: x }
    - { id: a, class: ui-error, pattern: '(' }
  off: [network/own-request-4x]
`;
  expect(headsOf(text).join('\n')).toMatch(/did you mean "network-error"/);
  expect(headsOf(text).join('\n')).toMatch(/is not a valid regular expression/);
  expect(headsOf(text).join('\n')).toMatch(/another rule already has the id "a"/);
  expect(headsOf(text).join('\n')).toMatch(/did you mean "network\/own-request-4xx"/);
  expect(markedIn(text)).toContain("'('");
});
