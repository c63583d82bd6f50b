import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/diagnose/classify.js';
import { parseComplaint } from '../../../src/diagnose/complaint.js';
import type { Evidence } from '../../../src/model/evidence.js';
import { describeFailure } from '../../../src/diagnose/headline.js';
import type { SuitePhase, SuiteFailure } from '../../../src/model/failure.js';
import { selectTextToHash } from '../../../src/diagnose/signature.js';
import { aDiagnosed, aTestFailure, anError, anEvidence } from '../../rig/builders.js';
import { locatorTimeout, logged, request } from './classify-evidence.js';

const server = { command: 'npx serve public', cwd: 'e2e', url: 'http://127.0.0.1:4601/' };
const phase: SuitePhase = {
  kind: 'web-server',
  at: { file: '/project/e2e/playwright.config.ts', line: 6, column: 1 },
  servers: [server],
  file: null,
};
const exited = 'Error: Process from config.webServer was not able to start. Exit code: 1';

function headline(message: string, serverOutput: string, given?: SuitePhase) {
  const evidence = anEvidence({ errors: [anError(message)], serverOutput });
  const failure: SuiteFailure = {
    scope: 'suite',
    errors: evidence.errors,
    stderr: '',
    ...(given ? { phase: given } : {}),
  };
  return describeFailure(aDiagnosed({ failure, evidence, diagnosis: classify(evidence) }));
}

it.each([
  [
    'says which server did not become available, where, and where its config is',
    'Error: Timed out waiting 15000ms from config.webServer.',
    ' HTTP  11/25/2026 4:25:01 PM 127.0.0.1 Returned 404 in 50 ms',
    'HTTP 127.0.0.1 Returned 404 — the web server `npx serve public` in e2e did not become available at http://127.0.0.1:4601/ within 15 s (e2e/playwright.config.ts:6)',
  ],
  [
    'is the program’s message, not its runner’s',
    exited,
    '> shop@1.0.0 dev\n> pnpm build\n\n> Build error occurred\nError: Failed to collect page data for /orders\n    at node_modules/next/dist/build/utils.js:1:1\n ELIFECYCLE  Command failed with exit code 1.\nnpm error code 1',
    'Error: Failed to collect page data for /orders — the web server `npx serve public` ended with exit code 1 (e2e/playwright.config.ts:6)',
  ],
  [
    'names a cause without its mark and its object',
    exited,
    '[cause]: error: column "type" does not exist {',
    'error: column "type" does not exist — the web server `npx serve public` ended with exit code 1 (e2e/playwright.config.ts:6)',
  ],
])('CS-8 CS-10 the headline of a suite %s', (_, message, serverOutput, expected) => {
  expect(headline(message, serverOutput, phase)).toBe(expected);
});

it('CS-10 the headline is the innermost cause of an error that wraps others', () => {
  const inner = 'error: insert or update on table "items" violates foreign key constraint "items_volunteer"';
  const error = anError('Error: Failed query: ALTER TABLE "items"', { causes: [inner] });
  const evidence = anEvidence({ errors: [error] });
  const failure = { scope: 'suite', errors: [error], stderr: '' } as const;
  expect(describeFailure(aDiagnosed({ failure, evidence, diagnosis: classify(evidence) }))).toBe(
    `${inner} — Error: Failed query: ALTER TABLE "items"`,
  );
});

it.each([
  ['a missing stylesheet', { resourceType: 'stylesheet', status: 404 }, 'network-error'],
  [
    'a script answered with an error in JSON',
    { resourceType: 'script', status: 500, responseHeaders: { 'content-type': 'application/json' } },
    'network-error',
  ],
  [
    'a module that a development server cannot transform',
    { resourceType: 'script', status: 500 },
    'build-error',
  ],
] as const)('CS-5 CS-7 a missing element is explained by %s', (_, over, category) => {
  const click = anError(locatorTimeout);
  const asked = request({ method: 'GET', url: 'http://localhost:3000/boot.js', responseBody: null, ...over });
  expect(classify(anEvidence({ errors: [click], network: [asked] })).category).toBe(category);
});

describe('complaint', () => {
  const timeLimit = anError('Test timeout of 10000ms exceeded.');
  const at = (line: number) => ({ location: { file: '/project/tests/a.spec.ts', line, column: 3 } });
  const marked = (code: string) => ({ snippet: `  11 | before\n> 12 |   ${code}\n     |   ^\n` });
  const click = (locator: string, log = '') =>
    anError(
      `Error: locator.click: Test timeout of 10000ms exceeded.\nCall log:\n  - waiting for ${locator}\n${log}`,
      at(12),
    );
  const veil = '    - <div id="veil" class="modal-backdrop show">veil</div> intercepts pointer events\n';
  const resolved = '    - locator resolved to <button>Save</button>\n';
  const waited = anError('Error: page.waitForResponse: Test timeout of 10000ms exceeded.', {
    ...at(12),
    ...marked("await page.waitForResponse((r) => r.url().endsWith('/orders'));"),
  });

  function headline(over: Partial<Evidence>) {
    const evidence = anEvidence({ errors: [click("getByText('Save')")], ...over });
    return describeFailure(aDiagnosed({ evidence, diagnosis: classify(evidence) }));
  }

  // What heads the cause of a failed action or expectation is in recorded-failures.jsonl.
  describe('the complaint of a test', () => {
    it('CS-8 is the blocked action rather than the wait for its response', () => {
      const errors = [timeLimit, waited, click("getByText('Save')", resolved + veil)];
      expect(parseComplaint(errors)).toEqual({
        kind: 'covered',
        call: 'locator.click',
        subject: "getByText('Save')",
        detail: 'div#veil.modal-backdrop.show',
      });
      expect(classify(anEvidence({ errors })).category).toBe('ui-error');
      expect(classify(anEvidence({ errors: [timeLimit, waited] })).category).toBe('network-error');
    });

    const symptom = "getByText('Save') not found (locator.click)";
    it.each<[string, Partial<Evidence>, string]>([
      [
        'an exception of the page and its line, then the symptom',
        {
          console: [
            {
              ...logged('TypeError: x', { type: 'pageerror' }),
              stack: 'TypeError: x\n    at row (src/list.ts:7:3)',
            },
          ],
        },
        `Uncaught TypeError: x at src/list.ts:7:3 — ${symptom}`,
      ],
      [
        'the error that ended a process, not the line of the package that threw it',
        {
          serverOutput:
            'file:///project/node_modules/client/sqlite3.js:389\n  return new LibsqlError(e.message);\n         ^\n\nLibsqlError: UNIQUE constraint failed: trip.slug\n    at file:///project/seed.mjs:12:11',
        },
        `LibsqlError: UNIQUE constraint failed: trip.slug at seed.mjs:12:11 — ${symptom}`,
      ],
    ])('RP-1 heads the cause with %s', (_, over, line) => {
      expect(headline(over)).toBe(line);
    });

    it.each([
      [302, 'GET /orders → 302 to /login — '],
      [200, ''],
    ])(
      'RP-1 says that the page was redirected away from the requested address: status %i',
      (status, words) => {
        const page = { method: 'GET', resourceType: 'document' };
        const pageUrl = 'http://localhost:3000/login?next=/orders';
        const network = [
          request({ ...page, url: 'http://localhost:3000/orders', status }),
          request({ ...page, url: pageUrl, status: 200 }),
        ];
        expect(headline({ network, pageUrl })).toBe(`${words}${symptom} (tests/a.spec.ts:12)`);
      },
    );
  });

  describe('ME-1 the signed text', () => {
    const signed = (...errors: ReturnType<typeof anError>[]) => selectTextToHash(aTestFailure({ errors }));

    it('ME-1 distinguishes hung actions by what they waited for', () => {
      const texts = [click("getByText('A')"), click("getByText('B')"), waited].map((error) =>
        signed(timeLimit, error),
      );
      expect(new Set(texts).size).toBe(3);
      expect(texts.join()).not.toContain('Test timeout of 10000ms exceeded.,');
    });

    it('ME-1 distinguishes comparisons of bare values by the line of the test', () => {
      const compared = (code: string) =>
        anError('Error: expect(received).toBe(expected)\n\nExpected: true\nReceived: false', marked(code));
      expect(signed(compared('expect(cart.isOpen()).toBe(true);'))).not.toBe(
        signed(compared('expect(user.isIn()).toBe(true);')),
      );
      expect(signed(compared('expect(cart.isOpen()).toBe(true);'))).toBe(
        signed(compared('expect(cart.isOpen()).toBe(true);')),
      );
    });

    it('ME-1 distinguishes bare timeouts by their step', () => {
      expect(
        selectTextToHash(aTestFailure({ errors: [timeLimit], failedStep: 'Wait for timeout' })),
      ).not.toBe(selectTextToHash(aTestFailure({ errors: [timeLimit] })));
    });
  });
});

const compared = (expected: string, received: string) =>
  `Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: ${expected}\nReceived: ${received}`;
const headlineIn = (evidence: Evidence) =>
  describeFailure(aDiagnosed({ failure: aTestFailure(), evidence, diagnosis: classify(evidence) }));

it('RP-1 names the code points of texts that look alike', () => {
  const evidence = anEvidence({ errors: [anError(compared('"1\u202F234"', '"1\u00A0234"'))] });
  expect(headlineIn(evidence)).toContain(
    'they look alike: at character 3, U+202F is expected and U+00A0 received',
  );
});

it('RP-1 CS-7 names the logged error that an assertion on the number of errors counted', () => {
  const error = { ...anError(compared('0', '1')), snippet: '> 3 |   expect(errors.length).toBe(0);' };
  const evidence = anEvidence({ errors: [error], console: [logged('Warning: keys must be unique')] });
  expect(headlineIn(evidence)).toMatch(/^Warning: keys must be unique — toBe: expected 0, received 1/);
});

it('RP-1 CS-7 names the out-of-memory error, not the output before it', () => {
  const output =
    '<--- Last few GCs --->\n[1:0x1] Mark-Compact 4\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';
  expect(headline(exited, output, phase)).toContain('FATAL ERROR: Reached heap limit');
});

it('RP-1 EV-4 says that a service worker bypassed a route of the test', () => {
  const url = 'http://localhost:3000/api/chat/status';
  const entry = { ...request({ method: 'GET', url, status: 200 }), time: 2 };
  const step = {
    time: 1,
    durationMs: 1,
    title: 'Route requests **/api/chat/status',
    at: 'a.spec.ts:1',
    error: null,
    log: [],
  };
  const evidence = anEvidence({
    errors: [anError(locatorTimeout.replace('Pay', 'Open chat'))],
    pageUrl: 'http://localhost:3000/',
    steps: [step],
    network: [entry, { ...entry, isOfServiceWorker: true }],
  });
  const failure = aTestFailure({ failedStep: 'Click chat' });
  const failed = aDiagnosed({
    failure,
    evidence: { ...evidence, failedStep: 'Click chat' },
    diagnosis: classify(evidence),
  });
  expect(describeFailure(failed)).toMatch(
    /^GET \/api\/chat\/status → 200 was answered by a service worker, bypassing/,
  );
});
