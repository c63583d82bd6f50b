import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { whatFailed } from '../../../src/fixer/what-failed.js';
import { aDiagnosed, aDiagnosis, anEvidence } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const words = "Cannot read properties of undefined (reading 'cents')";

function failure(
  status: number,
  url = 'http://localhost/api/total',
  frame = '    at call (node:internal/x:1:1)',
) {
  const dir = tempDir('server');
  writeFileSync(path.join(dir, 'orders.mjs'), 'one\ntwo\n  return order.amount.cents;\n');
  const serverOutput = [
    'GET /api/neighbour',
    `TypeError: ${words}`,
    frame,
    `    at total (file://${dir}/orders.mjs:3:23)`,
    '',
  ].join('\n');
  const network = [
    {
      time: 0,
      method: 'GET',
      url,
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

it('BF-4 reads on after URLs that are not valid: a masked host, a file that cannot be here', () => {
  const { said } = failure(
    404,
    'http://[masked: known value]/api',
    '    at call (file:///srv/100%zz.mjs:1:1)',
  );
  expect(said.notFound).toEqual(['/api']);
  expect(failure(405, 'http://localhost/api/total?page=2').said.notFound).toEqual(['/api/total']);
  const thrown = failure(500, undefined, '    at call (file:///srv/100%zz.mjs:1:1)').said;
  expect(path.basename(thrown.thrower ?? '')).toBe('orders.mjs');
});
