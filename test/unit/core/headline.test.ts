import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { headlineOf } from '../../../src/core/headline.js';
import type { Phase } from '../../../src/core/phase.js';
import type { Evidence } from '../../../src/core/evidence.js';
import { aDiagnosed, anError, anEvidence } from '../../rig/builders.js';
import { locatorTimeout, logged, request } from './classify-evidence.js';

const server = { command: 'npx serve public', cwd: 'e2e', url: 'http://127.0.0.1:4601/' };
const phase: Phase = {
  kind: 'web-server',
  at: { file: '/project/e2e/playwright.config.ts', line: 6, column: 1 },
  servers: [server],
  file: null,
};
const exited = 'Error: Process from config.webServer was not able to start. Exit code: 1';

function headline(message: string, serverOutput: string, given?: Phase) {
  const evidence = anEvidence({ errors: [anError(message)], serverOutput });
  const failure = { scope: 'suite', errors: evidence.errors, stderr: '', ...(given ? { phase: given } : {}) };
  return headlineOf(aDiagnosed({ failure: failure as never, evidence, diagnosis: classify(evidence) }));
}

it.each([
  [
    'says which server did not become available, where, and where its config is',
    'Error: Timed out waiting 15000ms from config.webServer.',
    ' HTTP  11/25/2026 4:25:01 PM 127.0.0.1 Returned 404 in 50 ms',
    'HTTP 127.0.0.1 Returned 404 — the web server `npx serve public` in e2e did not become available at http://127.0.0.1:4601/ within 15 s (e2e/playwright.config.ts:6)',
  ],
  [
    'is the message of the program, not those of what ran it',
    exited,
    '> shop@1.0.0 dev\n> pnpm build\n\n> Build error occurred\nError: Failed to collect page data for /orders\n    at node_modules/next/dist/build/utils.js:1:1\n ELIFECYCLE  Command failed with exit code 1.\nnpm error code 1',
    'Error: Failed to collect page data for /orders — the web server `npx serve public` ended with exit code 1 (e2e/playwright.config.ts:6)',
  ],
  [
    'is the message of a record in JSON',
    exited,
    '{"level":"error","time":1764063000000,"msg":"missing required environment variable DATABASE_URL"}',
    'missing required environment variable DATABASE_URL — the web server `npx serve public` ended with exit code 1 (e2e/playwright.config.ts:6)',
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
  expect(headlineOf(aDiagnosed({ failure, evidence, diagnosis: classify(evidence) }))).toBe(
    `${inner} — Error: Failed query: ALTER TABLE "items"`,
  );
});

it('CS-8 the headline says whole values, whole sentences and no type of a request', () => {
  const head = (message: string, over: Partial<Evidence> = {}) => {
    const evidence = anEvidence({ errors: [anError(message)], ...over });
    return headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }));
  };
  const diff = '- Expected  - 1\n+ Received  + 3\n\n- Array []\n+ Array [\n+   "hydration failed",\n+ ]\n';
  expect(head(`Error: expect(received).toEqual(expected) // deep equality\n\n${diff}`)).toContain(
    'toEqual: expected Array [], received "hydration failed"',
  );
  const asked = { network: [request({ url: 'http://localhost:3000/api/login', status: 429 })] };
  expect(head('Error: login failed with status 429', asked)).toMatch(/^POST \/api\/login → 429 — /);
  const long =
    'Error: Hydration failed because the server rendered text did not match the client. As a result this tree will be regenerated on the client. This can happen if';
  const console = [logged(long, { type: 'pageerror' })];
  expect(head('Error: x', { console })).toMatch(/regenerated on the client\. — /);
});

it('CS-8 a reason names a locator with its arguments, and no field of an object if anything else was said', () => {
  const clicked = anError(
    "Error: expect(locator).toBeVisible() failed\n\nCall log:\n  - waiting for getByText('Save')\n",
  );
  expect(classify(anEvidence({ errors: [clicked] })).why.map((one) => one.evidence)).toContain(
    "- waiting for getByText('Save')",
  );
  const serverOutput = "error: column \"type\" does not exist\n  severity: 'ERROR',\n  code: '42703',";
  const { why } = classify(anEvidence({ errors: [clicked], serverOutput }));
  expect(why.map((one) => one.evidence)).not.toContain("severity: 'ERROR',");
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
] as const)('CS-5 CS-7 behind a missing element is %s', (_, over, category) => {
  const click = anError(locatorTimeout);
  const asked = request({ method: 'GET', url: 'http://localhost:3000/boot.js', responseBody: null, ...over });
  expect(classify(anEvidence({ errors: [click], network: [asked] })).category).toBe(category);
});

it('CS-10 without a phase, the headline of a suite is Playwright’s message', () => {
  expect(headline(exited, '')).toBe(exited);
});
