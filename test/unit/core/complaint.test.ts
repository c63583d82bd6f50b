import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { complaintOf, tellingErrors } from '../../../src/core/complaint.js';
import type { Evidence } from '../../../src/core/evidence.js';
import { headlineOf } from '../../../src/core/headline.js';
import { signedText } from '../../../src/core/signature.js';
import { aDiagnosed, aTestFailure, anError, anEvidence } from '../../rig/builders.js';
import { logged, request } from './classify-evidence.js';

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
  return headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }));
}

// What heads the cause of a failed action or expectation is in recorded-failures.jsonl.
describe('the complaint of a test', () => {
  it('CS-8 comes from the action that hung, not from the time limit', () => {
    expect(tellingErrors([timeLimit, click("getByRole('button')")])).toHaveLength(1);
    expect(tellingErrors([timeLimit])).toEqual([timeLimit]);
  });

  it('CS-8 is the blocked action rather than the wait for the response that it should have caused', () => {
    const errors = [timeLimit, waited, click("getByText('Save')", resolved + veil)];
    expect(complaintOf(errors)).toEqual({
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
    [
      'an error that Node printed in brackets, without the bracket',
      { serverOutput: '[Error: SQLITE_ERROR: no such column: role\n] { errno: 1 }' },
      `Error: SQLITE_ERROR: no such column: role — ${symptom}`,
    ],
  ])('RP-1 heads the cause with %s', (_, over, line) => {
    expect(headline(over)).toBe(line);
  });

  it.each([
    [302, 'GET /orders → 302 to /login — '],
    [200, ''],
  ])(
    'RP-1 says that the page was redirected to another one than was asked for: status %i',
    (status, said) => {
      const page = { method: 'GET', resourceType: 'document' };
      const pageUrl = 'http://localhost:3000/login?next=/orders';
      const network = [
        request({ ...page, url: 'http://localhost:3000/orders', status }),
        request({ ...page, url: pageUrl, status: 200 }),
      ];
      expect(headline({ network, pageUrl })).toBe(`${said}${symptom} (tests/a.spec.ts:12)`);
    },
  );

  it('RP-1 names the place of an error whose line is too long to show it', () => {
    const serverOutput = `11:04:12 PM [vite] Pre-transform error: Failed to load url ${'very/'.repeat(30)}long.ts in /project/src/Card.svelte`;
    expect(headline({ serverOutput })).toMatch(
      /^\[vite\] Pre-transform error: Failed to load url very\/.* at src\/Card\.svelte — /,
    );
  });

  it('CS-8 does not mistake a wrong count for a strict-mode violation', () => {
    const message =
      "Error: expect(locator).toHaveCount(expected) failed\n\nLocator:  locator('.row')\nExpected: 3\nReceived: 0\n\nCall log:\n  - waiting for locator('.row')\n    9 × locator resolved to 0 elements\n    2 × locator resolved to 4 elements\n";
    const rules = classify(anEvidence({ errors: [anError(message)] })).why.map(({ rule }) => rule);
    expect(rules).not.toContain('ui/strict-mode');
  });
});

describe('ME-1 the signed text', () => {
  const signed = (...errors: ReturnType<typeof anError>[]) => signedText(aTestFailure({ errors }));

  it('ME-1 tells hung actions apart by what they waited for', () => {
    const texts = [click("getByText('A')"), click("getByText('B')"), waited].map((error) =>
      signed(timeLimit, error),
    );
    expect(new Set(texts).size).toBe(3);
    expect(texts.join()).not.toContain('Test timeout of 10000ms exceeded.,');
  });

  it('ME-1 tells comparisons of bare values apart by the line of the test', () => {
    const compared = (code: string) =>
      anError('Error: expect(received).toBe(expected)\n\nExpected: true\nReceived: false', marked(code));
    expect(signed(compared('expect(cart.isOpen()).toBe(true);'))).not.toBe(
      signed(compared('expect(user.isIn()).toBe(true);')),
    );
    expect(signed(compared('expect(cart.isOpen()).toBe(true);'))).toBe(
      signed(compared('expect(cart.isOpen()).toBe(true);')),
    );
  });

  it('ME-1 tells bare timeouts apart by their step', () => {
    expect(signedText(aTestFailure({ errors: [timeLimit], failedStep: 'Wait for timeout' }))).not.toBe(
      signedText(aTestFailure({ errors: [timeLimit] })),
    );
  });
});
