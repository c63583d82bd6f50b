import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { whatFailed } from '../../../src/fixer/what-failed.js';
import { aDiagnosed, aDiagnosis, anEvidence } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const words = "Cannot read properties of undefined (reading 'cents')";

function failure(status: number) {
  const dir = tempDir('server');
  writeFileSync(path.join(dir, 'orders.mjs'), 'one\ntwo\n  return order.amount.cents;\n');
  const serverOutput = [
    'GET /api/neighbour',
    `TypeError: ${words}`,
    '    at call (node:internal/x:1:1)',
    `    at total (file://${dir}/orders.mjs:3:23)`,
    '',
  ].join('\n');
  const network = [
    {
      time: 0,
      method: 'GET',
      url: 'http://localhost/api/total',
      resourceType: 'fetch',
      status,
      durationMs: 1,
      failure: null,
      requestHeaders: {},
      responseHeaders: {},
      requestBody: null,
      responseBody: JSON.stringify({ error: words }),
    },
  ];
  const evidence = anEvidence({ serverOutput, network });
  const lead = aDiagnosed({ evidence, diagnosis: aDiagnosis({ why: [] }) });
  return { dir, serverOutput, said: whatFailed(lead, { cwd: dir, isApp: (file) => file.startsWith(dir) }) };
}

it('BF-4 finds the line of the server that threw by the message that the page received', () => {
  const { dir, serverOutput, said } = failure(500);
  expect(said).toMatchObject({
    ofServer: serverOutput,
    thrower: path.join(dir, 'orders.mjs'),
    line: '  return order.amount.cents;',
  });
});

it('BF-4 ignores a log that nothing connects with the test', () => {
  expect(failure(200).said).toMatchObject({ ofServer: null, thrower: null, line: null });
});
