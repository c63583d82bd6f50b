import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { anError } from '../../rig/builders.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

describe('a database error on the page', () => {
  it.each([
    [
      'an error page',
      '- heading "ProgrammingError at /orders" [level=1]\n- text: relation "shop_order" does not exist',
      { table: 'shop_order' },
    ],
    [
      'a quoted line of the snapshot',
      '- paragraph: "new row violates row-level security policy for table \\"order_items\\""',
      { table: 'order_items' },
    ],
    ['an error of SQLite', '- text: "no such column: orders.vat"', { column: 'vat' }],
    [
      'a violated constraint',
      '- alert: duplicate key value violates unique constraint "users_email_key"',
      { constraint: 'users_email_key' },
    ],
  ])(
    'EV-5 CS-2 %s is the cause, with its facts, and the locator is the symptom',
    (_, ariaSnapshot, facts) => {
      expect(classify(failing(locatorTimeout, { ariaSnapshot }))).toMatchObject({
        category: 'database-error',
        alternatives: ['ui-error'],
        facts,
      });
    },
  );

  it.each([
    ['a heading of a manual', '- heading "What to do when a relation does not exist"'],
    ['a failed constraint of a form', '- text: The constraint failed'],
    ['a permission denied to the user', '- text: permission denied for you'],
    ['a duplicate entry of the app', '- text: Duplicate entry'],
  ])('CS-8 %s decides nothing', (_, ariaSnapshot) => {
    expect(classify(failing(locatorTimeout, { ariaSnapshot }))).toMatchObject({
      category: 'ui-error',
      alternatives: [],
    });
  });
});

describe('a server error behind answers with status 200', () => {
  const serverOutput =
    "TypeError: Cannot read properties of undefined (reading 'name')\n    at load (src/a.ts:1:2)";
  const network = [request({ method: 'GET', status: 200 })];
  const seen = (ariaSnapshot: string) => failing(locatorTimeout, { ariaSnapshot, serverOutput, network });

  it.each([
    ['SvelteKit', '- heading "500" [level=1]\n- paragraph: Internal Error'],
    ['React Router', '- heading "Unexpected Server Error" [level=1]'],
    ['an error page of the app', '- heading "500 | Something broke" [level=2]'],
    ['Astro, in development', '- heading "TypeError" [level=2]\n- heading "An error occurred." [level=1]'],
  ])('CS-7 is the cause if the page shows an error page: %s', (_, page) => {
    expect(classify(seen(page))).toMatchObject({
      category: 'runtime-error',
      facts: { source: 'src/a.ts:1:2' },
    });
  });

  it('EV-5 has the place that the server printed, if the page throws it again without one', () => {
    const console = [
      logged("TypeError: Cannot read properties of undefined (reading 'name')", { type: 'pageerror' }),
    ];
    const page =
      '- heading "This page couldn’t load" [level=1]\n- paragraph: A server error occurred. Reload to try again.';
    expect(classify({ ...seen(page), console })).toMatchObject({
      why: [{ source: 'server' }, { source: 'console' }, {}, {}, {}],
      facts: { source: 'src/a.ts:1:2' },
    });
  });

  it('CS-7 is the cause if Playwright met the overlay and there is no snapshot', () => {
    const message = `${locatorTimeout}\n    - locator resolved to <h1 id="title">An error occurred.</h1>`;
    const found = classify({ ...seen(''), errors: [anError(message)] });
    expect(found.category).toBe('runtime-error');
  });

  it('CS-7 is of another test if the page shows none', () => {
    expect(classify(seen('- heading "500 points" [level=1]')).category).toBe('ui-error');
  });
});

// What React logs about an error that a boundary caught; it is one entry since version 19.
const boundary =
  'React will try to recreate this component tree from scratch using the error boundary you provided, Page.';
const frames = '    at List (src/list.tsx:3:9)\n    at renderWithHooks (react-dom.js:1:2)';
it.each([
  [
    'React 18',
    [
      logged('Error: another, caught before', { type: 'pageerror' }),
      logged('Error: no orders', { type: 'pageerror' }),
      logged(
        `The above error occurred in the <List> component:\n\n    at List (src/list.tsx)\n\n${boundary}`,
      ),
    ],
    'Uncaught Error: no orders',
  ],
  [
    'React 19',
    [
      logged(
        `%o\n\n%s\n\n%s\n Error: no orders\n${frames} The above error occurred in the <List> component. ${boundary}`,
      ),
    ],
    'Error: no orders',
  ],
])(
  'CS-8 treats the error that a boundary of %s caught as the cause, not React’s message about it',
  (_, console, line) => {
    const { category, why } = classify(failing(locatorTimeout, { console }));
    expect({ category, decided: why[0]?.evidence }).toEqual({ category: 'runtime-error', decided: line });
  },
);

it.each([
  [
    'a failed rendering by Next',
    locatorTimeout,
    "⨯ Error: no rates\n    at Cart (src/cart.tsx:8:21)\n   6 |\n>  8 |   throw e; {\n  digest: '3958204630'\n}",
    'Error: no rates',
  ],
  [
    'a failed build',
    "Error: Build failed with 1 error:\n\n[UNRESOLVED_IMPORT] Could not resolve './vat' in src/Cart.vue",
    '✗ Build failed in 685ms',
    "[UNRESOLVED_IMPORT] Could not resolve './vat' in src/Cart.vue",
  ],
])(
  'CS-8 gives the error behind %s as the reason, not the message that something failed',
  (_, error, serverOutput, line) => {
    const { why } = classify(failing(error, { serverOutput }));
    expect(why[0]?.evidence).toBe(line);
  },
);

it('CS-8 quotes an element by its tag name', () => {
  const covered = `${locatorTimeout}\n    - <div class="veil"></div> intercepts pointer events`;
  const { why } = classify(failing(covered));
  expect(why.map(({ evidence }) => evidence)).toContain('- <div> intercepts pointer events');
});

it('CS-7 a page that stays because its own request was refused is about the request', () => {
  const refused = {
    time: 0,
    method: 'POST',
    url: 'http://localhost:3000/api/signin',
    resourceType: 'fetch',
    status: 404,
    durationMs: 1,
    failure: null,
    requestHeaders: {},
    responseHeaders: {},
    requestBody: null,
    responseBody: null,
  };
  const stayed =
    'Error: page.waitForURL: Test timeout of 6000ms exceeded.\nwaiting for navigation to "**/dashboard" until "load"';
  const { category, why } = classify(
    failing(stayed, { network: [refused], pageUrl: 'http://localhost:3000/login' }),
  );
  expect([category, why[0]?.evidence]).toEqual(['network-error', 'fetch POST /api/signin → 404']);
  expect(classify(failing(stayed)).category).toBe('network-error');
});

describe('an exception of the page', () => {
  const text = 'Error: there was no active store\nSee https://store.example/docs/outside.html for help.';
  const thrownAt = (place: string) =>
    classify(
      failing(locatorTimeout, {
        console: [logged(text, { type: 'pageerror', stack: `${text}\n    at useStore (${place})` })],
      }),
    ).category;

  it('CS-7 is the app’s own although its message names a page with help, which is no script', () => {
    expect(thrownAt('node_modules/store/index.js:1353:68')).toBe('runtime-error');
    expect(thrownAt('http://localhost:3000/assets/index.js:1:68')).toBe('runtime-error');
    expect(thrownAt('https://widgets.example/chat.js:1:68')).toBe('ui-error');
  });
});

describe('a matcher of the project’s own', () => {
  const said = 'Error: getByTestId(\'stats\') counts "5 open", not 41';
  const failedAt = (failedStep: string | null, message = said) => classify(failing(message, { failedStep }));

  it.each([
    'Expect "toHaveCounted" getByTestId(\'stats\')',
    'expect.toHaveCounted',
    'expect.soft.toHaveCounted',
  ])('CS-2 whose wording nobody knows is known by its step: %s', (step) =>
    expect(failedAt(step).category).toBe('ui-error'),
  );

  it('CS-2 is no more evidence where Playwright says the same in its own words', () => {
    const own =
      'Error: expect(locator).toHaveText(expected) failed\n\nLocator: getByTestId(\'stats\')\nExpected: "41"\nReceived: "5"';
    const step = 'Expect "toHaveText" getByTestId(\'stats\')';
    expect(failedAt(step, own).why).toEqual(failedAt(null, own).why);
  });

  it('CS-8 counts less than anything else that is known', () => {
    expect(failedAt('Expect "toHaveCounted"', 'Error: the database is missing').category).toBe(
      'database-error',
    );
    expect(failedAt('Expect "toHaveCounted" getByText(\'relation "orders" does not exist\')').category).toBe(
      'ui-error',
    );
    for (const step of ['Expectation of the guest', 'Click getByText(\'Expect "more"\')', null])
      expect(failedAt(step).category).toBe('unknown');
  });
});

describe('what the Playwright config throws', () => {
  const thrownIn = (file: string) => {
    const message = 'AssertionError [ERR_ASSERTION]: API_USER is not set';
    const stack = `${message}\n    at Object.<anonymous> (/project/${file}:12:7)`;
    return classify({ ...failing(message), errors: [anError(message, { stack })] });
  };

  it('CS-2 is an exception, although an assertion elsewhere is about the page', () => {
    expect(thrownIn('playwright.config.ts')).toMatchObject({
      category: 'runtime-error',
      facts: { source: 'playwright.config.ts:12:7' },
    });
    expect(thrownIn('e2e/cart.spec.ts').category).toBe('ui-error');
    expect(thrownIn('e2e/playwright.ts').category).toBe('ui-error');
  });
});
