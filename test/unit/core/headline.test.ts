import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { headlineOf } from '../../../src/core/headline.js';
import type { Phase } from '../../../src/core/phase.js';
import { aDiagnosed, anError, anEvidence } from '../../rig/builders.js';

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

it('CS-10 without a phase, the headline of a suite is Playwright’s message', () => {
  expect(headline(exited, '')).toBe(exited);
});
