import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { requestLine } from '../../../src/core/classify/requests.js';
import type { Reason } from '../../../src/core/diagnosis.js';
import { type NetworkEntry, unanswered } from '../../../src/core/evidence.js';
import { consoleKey, requestKey } from '../../../src/evidence/complaints.js';
import { reasonsLeft } from '../../../src/evidence/reasons-left.js';
import { aDiagnosis, anEvidence, failing } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const reason = (source: Reason['source'], evidence: string): Reason => ({
  rule: `runtime/${source}`,
  category: 'runtime-error',
  source,
  evidence,
  confidence: 0.9,
});
const thrown = "TypeError: Cannot read properties of undefined (reading 'id')";
const entry: NetworkEntry = {
  method: 'GET',
  url: 'http://localhost:3000/api/orders?page=1',
  status: 500,
  failure: null,
  time: 0,
  durationMs: 5,
  resourceType: 'fetch',
  requestHeaders: {},
  responseHeaders: {},
  requestBody: null,
  responseBody: null,
};
const failingWith = (sent: NetworkEntry) =>
  failing('t1', 'boom', {
    diagnosis: aDiagnosis({
      category: 'runtime-error',
      why: [
        reason('console', `Uncaught ${thrown}`),
        reason('network', requestLine(sent)),
        reason('server', 'TypeError: order 4711001 has no lines'),
        reason('error', 'Error: locator.click: Timeout 500ms exceeded.'),
      ],
    }),
    evidence: anEvidence({
      console: [{ time: 0, type: 'pageerror', text: thrown, location: '', stack: null }],
      network: [sent],
    }),
  });

/** The sources of the reasons that are left after a run with these complaints of the page and this output of the server. */
async function sourcesLeft(
  complaints: readonly (string | NetworkEntry)[],
  server: string,
  failure = failingWith(entry),
): Promise<string[]> {
  const serverLog = path.join(tempDir('reasons'), 'server.log');
  writeFileSync(serverLog, `1700000000000 ${server}\n`);
  const keys = complaints.map((one) => (typeof one === 'string' ? consoleKey(one) : requestKey(one)));
  const found = await reasonsLeft(new Map([[failure, new Map(keys.map((key) => [key, 1]))]]), { serverLog });
  return found.get(failure)?.map(({ source }) => source) ?? [];
}

it('HN-3 keeps a reason that the page, network or server still gives although the test passes', async () => {
  const other = { ...entry, url: entry.url.replace('page=1', 'page=2') };
  expect(await sourcesLeft([thrown, other], 'TypeError: order 4711002 has no lines')).toEqual([
    'console',
    'network',
    'server',
  ]);
});

it('HN-3 drops a reason that is gone or that only the error gave', async () => {
  const answered = { ...entry, status: 404 };
  expect(await sourcesLeft(['TypeError: another', answered], 'listening')).toEqual([]);
});

it('HN-3 drops a call without an answer, since a test that passes may end before it comes', async () => {
  const open = { status: null, failure: unanswered };
  const failure = failingWith({ ...entry, ...open });
  expect(await sourcesLeft([{ ...entry, ...open }], 'listening', failure)).toEqual([]);
});
