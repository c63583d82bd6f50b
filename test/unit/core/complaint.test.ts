import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { complaintOf, tellingErrors } from '../../../src/core/complaint.js';
import { headlineOf } from '../../../src/core/headline.js';
import { signedText } from '../../../src/core/signature.js';
import { aDiagnosed, aTestFailure, anError, anEvidence } from '../../rig/builders.js';
import { request } from './classify-evidence.js';

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

const headline = (...errors: ReturnType<typeof anError>[]) => {
  const evidence = anEvidence({ errors });
  return headlineOf(
    aDiagnosed({ evidence, failure: aTestFailure({ errors }), diagnosis: classify(evidence) }),
  );
};

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

  it.each<[string, ReturnType<typeof anError>[], string]>([
    [
      'a missing element',
      [timeLimit, click("getByRole('button', { name: 'Go' })")],
      "getByRole('button', { name: 'Go' }) not found (locator.click) (tests/a.spec.ts:12)",
    ],
    [
      'an element that stayed',
      [
        timeLimit,
        anError(
          'Error: locator.waitFor: Test timeout of 10000ms exceeded.\nCall log:\n  - waiting for locator(\'#menu\') to be hidden\n    31 × locator resolved to visible <div id="menu">…</div>\n',
          at(12),
        ),
      ],
      "locator('#menu') is not hidden (locator.waitFor) (tests/a.spec.ts:12)",
    ],
    [
      'a selector that matched nothing',
      [
        timeLimit,
        anError(
          "Error: page.waitForSelector: Test timeout of 10000ms exceeded.\nCall log:\n  - waiting for locator('#menu') to be visible\n",
          at(12),
        ),
      ],
      "locator('#menu') not found (page.waitForSelector) (tests/a.spec.ts:12)",
    ],
    [
      'a covered element',
      [timeLimit, click("locator('#b')", resolved + veil)],
      "locator('#b') is covered by div#veil.modal-backdrop.show (locator.click) (tests/a.spec.ts:12)",
    ],
    [
      'a wrong text',
      [
        anError(
          'Error: expect(locator).toHaveText(expected) failed\n\nLocator:  locator(\'#b\')\nExpected: "Go"\nReceived: "Save"\nTimeout:  700ms',
          at(21),
        ),
      ],
      'toHaveText on locator(\'#b\'): expected "Go", received "Save" (tests/a.spec.ts:21)',
    ],
    [
      'objects that differ',
      [
        anError(
          'Error: expect(received).toEqual(expected) // deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   "b": 3,\n+   "b": 2,\n  }',
          at(28),
        ),
      ],
      'toEqual: expected "b": 3, received "b": 2 (tests/a.spec.ts:28)',
    ],
    [
      'an item in another place',
      [
        anError(
          'Error: expect(received).toEqual(expected) // deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Array [\n-   "Tea",\n    "Coffee",\n+   "Tea",\n  ]',
          at(28),
        ),
      ],
      'toEqual: expected "Tea" in another place (tests/a.spec.ts:28)',
    ],
    [
      'a line of a text snapshot',
      [
        anError(
          'Error: expect(string).toMatchSnapshot(expected) failed\n\n  @@ -3,5 +3,5 @@\n       "name": "pen",\n  -    "price": "€2.50"\n  +    "price": "€3.00"\n     },\n\n\n  Snapshot: prices.json',
          at(49),
        ),
      ],
      'toMatchSnapshot: expected "price": "€2.50", received "price": "€3.00" (tests/a.spec.ts:49)',
    ],
    [
      'an element of an accessibility snapshot, not one that merely has children',
      [
        anError(
          'Error: expect(locator).toMatchAriaSnapshot(expected) failed\n\nLocator: locator(\'body\')\nTimeout: 2500ms\n- Expected  - 2\n+ Received  + 4\n\n  - table:\n-     - row "pen €2.50"\n-     - row "ink €9.00"\n+     - row "pen €2.50":\n+       - cell "pen"\n+     - row "ink €9.50":\n+       - cell "ink"\n  - status: 2 items\n\nCall log:\n  - Expect "toMatchAriaSnapshot" with timeout 2500ms\n',
          at(34),
        ),
      ],
      'toMatchAriaSnapshot on locator(\'body\'): expected - row "ink €9.00", received - row "ink €9.50": (tests/a.spec.ts:34)',
    ],
    [
      'pixels that differ',
      [
        anError(
          'Error: expect(locator).toHaveScreenshot(expected) failed\n\nLocator: locator(\'#b\')\n  160 pixels (ratio 0.08 of all image pixels) are different.\n\n  Snapshot: badge.png\n\nCall log:\n  - Expect "toHaveScreenshot(badge.png)" with timeout 2500ms\n  - waiting for locator(\'#b\')\n    - locator resolved to <span id="b"></span>\n',
          at(30),
        ),
      ],
      "toHaveScreenshot on locator('#b'): 160 pixels (ratio 0.08 of all image pixels) are different (tests/a.spec.ts:30)",
    ],
    [
      'an element that a fixture waited for until the test ended',
      [
        timeLimit,
        anError("Error: locator.fill: Test ended.\nCall log:\n  - waiting for getByLabel('Name')\n", at(12)),
      ],
      "getByLabel('Name') not found (locator.fill) (tests/a.spec.ts:12)",
    ],
    [
      'a missing value',
      [anError('Error: expect(received).toBeTruthy()\n\nReceived: null', at(64))],
      'toBeTruthy: received null (tests/a.spec.ts:64)',
    ],
    [
      'a list that is too short',
      [
        anError(
          'Error: expect(locator).toHaveText(expected) failed\n\nLocator: locator(\'li\')\n- Expected  - 4\n+ Received  + 1\n\n- Array [\n-   "First",\n-   "Second",\n- ]\n+ Array []',
          at(31),
        ),
      ],
      'toHaveText on locator(\'li\'): expected "First", received Array [] (tests/a.spec.ts:31)',
    ],
    [
      'a response that never came',
      [timeLimit, waited],
      "page.waitForResponse((r) => r.url().endsWith('/orders')) got no answer in time (tests/a.spec.ts:12)",
    ],
    [
      'a condition that never held',
      [
        timeLimit,
        anError('Error: page.waitForFunction: Test timeout of 700ms exceeded.', {
          ...at(12),
          ...marked('await page.waitForFunction(() => window.ready)'),
        }),
      ],
      'page.waitForFunction(() => window.ready) did not become true in time (tests/a.spec.ts:12)',
    ],
    ['an exception', [anError('RangeError: no', at(3))], 'RangeError: no (tests/a.spec.ts:3)'],
  ])('RP-1 heads the cause with the complaint and its place: %s', (_, errors, line) => {
    expect(headline(...errors)).toBe(line);
  });

  it('RP-1 heads the cause with the page’s exception and its line, then the symptom', () => {
    const stack =
      "TypeError: Cannot read properties of undefined (reading 'id')\n    at row (src/list.ts:7:3)";
    const console = [{ time: 0, type: 'pageerror', text: stack.split('\n')[0] ?? '', location: '', stack }];
    const evidence = anEvidence({ errors: [click("getByText('Save')")], console });
    expect(headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }))).toBe(
      "Uncaught TypeError: Cannot read properties of undefined (reading 'id') at src/list.ts:7:3 — getByText('Save') not found (locator.click)",
    );
  });

  it('RP-1 heads the cause with the error that ended a process, not with the line of the package that threw it', () => {
    const serverOutput = `file:///project/node_modules/@libsql/client/sqlite3.js:389
        return new LibsqlError(e.message, code, extendedCode, e.rawCode, e);
               ^

LibsqlError: SQLITE_CONSTRAINT: UNIQUE constraint failed: trip.slug
    at file:///project/seed.mjs:12:11`;
    const evidence = anEvidence({ errors: [anError('Error: no server')], serverOutput });
    expect(headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }))).toMatch(
      /^LibsqlError: SQLITE_CONSTRAINT: UNIQUE constraint failed: trip\.slug at seed\.mjs:12:11 — /,
    );
  });

  it.each([
    [302, 'GET /orders → 302 to /login — '],
    [200, ''],
  ])(
    'RP-1 says that the page was redirected to another one than was asked for: status %i',
    (status, said) => {
      const page = { method: 'GET', resourceType: 'document' };
      const network = [
        request({ ...page, url: 'http://localhost:3000/orders', status }),
        request({ ...page, url: 'http://localhost:3000/login?next=/orders', status: 200 }),
      ];
      const pageUrl = 'http://localhost:3000/login?next=/orders';
      const evidence = anEvidence({ errors: [click("getByText('Save')")], network, pageUrl });
      expect(headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }))).toBe(
        `${said}getByText('Save') not found (locator.click) (tests/a.spec.ts:12)`,
      );
    },
  );

  it('RP-1 names the place of an error whose line is too long to show it', () => {
    const importer = '/project/src/Card.svelte';
    const serverOutput = `11:04:12 PM [vite] Pre-transform error: Failed to load url ${'very/'.repeat(30)}long.ts in ${importer}`;
    const evidence = anEvidence({ errors: [click("getByText('Save')")], serverOutput });
    expect(headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }))).toMatch(
      /^\[vite\] Pre-transform error: Failed to load url very\/.* at src\/Card\.svelte — /,
    );
  });

  it('RP-1 heads the cause with an error that Node printed in brackets, without the bracket', () => {
    const serverOutput = '[Error: SQLITE_ERROR: no such column: role\n] { errno: 1 }';
    const evidence = anEvidence({ errors: [click("getByText('Save')")], serverOutput });
    expect(headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }))).toMatch(
      /^Error: SQLITE_ERROR: no such column: role — /,
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
