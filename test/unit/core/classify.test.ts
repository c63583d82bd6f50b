import { describe, expect, it } from 'vitest';
import { classify, unknownWarning } from '../../../src/core/classify/classify.js';
import type { Category } from '../../../src/core/diagnosis.js';
import type { Evidence } from '../../../src/core/evidence.js';
import { anError, anEvidence } from '../../rig/builders.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

describe('what the error itself says', () => {
  const messages: [string, Category][] = [
    ["src/total.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.", 'build-error'],
    ["Error: ENOENT: no such file or directory, lstat 'dist'", 'build-error'],
    ['[plugin:vite:import-analysis] Failed to resolve import "./cart" from "src/app.tsx".', 'build-error'],
    [
      "Error: Cannot find module './pages/login'\nRequire stack:\n- /project/tests/login.spec.ts",
      'build-error',
    ],
    ["SyntaxError: The requested module './money.js' does not provide an export named 'vat'", 'build-error'],
    ['SyntaxError: /project/tests/cart.spec.ts: Unexpected token (3:12)', 'build-error'],
    [
      'TypeError: Failed to fetch dynamically imported module: http://localhost:3000/src/cart.tsx',
      'build-error',
    ],
    ['error: new row violates row-level security policy for table "orders"', 'database-error'],
    ['PrismaClientKnownRequestError: code: P2025, record gone', 'database-error'],
    ['SqliteError: no such table: invoices', 'database-error'],
    ['Error: connect ECONNREFUSED 127.0.0.1:5432', 'database-error'],
    ["TypeError: Cannot read properties of undefined (reading 'id')", 'runtime-error'],
    ["Cannot read property 'id' of undefined", 'runtime-error'],
    ['Error: Minified React error #418; visit https://react.dev/errors/418', 'runtime-error'],
    ['Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/', 'network-error'],
    ['TypeError: Failed to fetch', 'network-error'],
    ['Error: connect ECONNREFUSED 127.0.0.1:8080', 'network-error'],
    [locatorTimeout, 'ui-error'],
    [
      "Error: expect(locator).toBeVisible() failed\n\nLocator: locator('#a')\nError: element(s) not found",
      'ui-error',
    ],
    ['Error: worker process exited unexpectedly (code=null, signal=SIGKILL)', 'unknown'],
    [
      'Error: locator.click: Target page, context or browser has been closed\nCall log:\n  - waiting for locator("#a")',
      'unknown',
    ],
  ];
  it.each(messages)('CS-1, CS-2, CS-3, CS-4, CS-5 %s', (message, category) => {
    expect(classify(failing(message)).category).toBe(category);
  });
});

describe('CS-6 unknown', () => {
  it('CS-6 warns with exactly these words, and names no reason and no alternative', () => {
    const diagnosis = classify(failing('Error: something odd'));
    expect(unknownWarning).toBe('Error type unknown, using default agent');
    expect(diagnosis).toMatchObject({
      category: 'unknown',
      warning: unknownWarning,
      why: [],
      alternatives: [],
    });
  });

  it('CS-6 does not warn if the class is known', () => {
    expect(classify(failing(locatorTimeout)).warning).toBeNull();
  });
});

describe('CS-7 evidence of the cause outranks the symptom', () => {
  const thrown = "TypeError: Cannot read properties of undefined (reading 'total')";
  it.each<[string, Partial<Evidence>, Category, Category[]]>([
    ['the page threw', { console: [logged(thrown, { type: 'pageerror' })] }, 'runtime-error', ['ui-error']],
    ['the app answered 500', { network: [request()] }, 'network-error', ['ui-error']],
    [
      'the response names the SQL error',
      { network: [request({ responseBody: '{"message":"relation \\"orders\\" does not exist"}' })] },
      'database-error',
      ['network-error', 'ui-error'],
    ],
    [
      'the response is a page with the exception',
      {
        network: [
          request({
            responseBody: '<pre>TypeError: Cannot read properties of null (reading &#39;id&#39;)</pre>',
          }),
        ],
      },
      'runtime-error',
      ['network-error', 'ui-error'],
    ],
    [
      'the server says why',
      {
        network: [request()],
        serverOutput: '[WebServer] error: column "vat" of relation "orders" does not exist',
      },
      'database-error',
      ['network-error', 'ui-error'],
    ],
    [
      'an error overlay covers the page',
      {
        errors: [
          anError(
            'TimeoutError: locator.click: Timeout 500ms exceeded.\n  - <vite-error-overlay></vite-error-overlay> intercepts pointer events',
          ),
        ],
      },
      'build-error',
      ['ui-error'],
    ],
    [
      'the connection was refused',
      { network: [request({ status: null, failure: 'net::ERR_CONNECTION_REFUSED' })] },
      'network-error',
      ['ui-error'],
    ],
    [
      'a module of the app cannot be served',
      {
        network: [
          request({ method: 'GET', resourceType: 'script', url: 'http://localhost:3000/src/cart.tsx' }),
        ],
      },
      'build-error',
      ['ui-error'],
    ],
  ])('CS-7 %s', (_, over, category, alternatives) => {
    expect(classify(failing(locatorTimeout, over))).toMatchObject({ category, alternatives });
  });

  it('CS-7 treats the cause of an error as part of it', () => {
    const error = anError('Error: saving failed', {
      causes: ['error: duplicate key value violates unique constraint "orders_pkey"'],
    });
    expect(classify(anEvidence({ errors: [error] })).category).toBe('database-error');
  });
});

describe('CS-8 a word that merely occurs decides nothing', () => {
  it.each<[string, string]>([
    [
      'an expected text',
      `Error: expect(locator).toHaveText(expected) failed\n\nLocator:  locator('#sum')\nExpected: "500 items"\nReceived: "Internal Server Error: relation \\"x\\" does not exist"\nTimeout:  5000ms`,
    ],
    [
      'a received text of several lines',
      `Error: expect(locator).toHaveText(expected) failed\n\nLocator:  locator('pre')\nExpected: "ok"\nReceived: "TypeError: x is not a function\nerror TS2322: no"\nTimeout:  5000ms`,
    ],
    [
      'a locator',
      "TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - waiting for getByText('violates row-level security policy')",
    ],
    [
      'a selector',
      "TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - waiting for locator('.net::ERR_CONNECTION_REFUSED')",
    ],
    [
      'an element',
      'TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - locator resolved to <p title="ECONNREFUSED error TS2322">no</p>\n  - element is not visible',
    ],
    [
      'a test title',
      "1) [chromium] › tests/tsc.spec.ts:3:5 › tsc › error TS2322: Cannot find module 'x' ─────\n\n    Error: expect(locator).toBeVisible() failed",
    ],
    [
      'a code frame',
      "Error: expect(locator).toBeVisible() failed\n\n  3 | // TypeError: Cannot read properties of undefined\n> 4 | await expect(page.locator('#a')).toBeVisible();",
    ],
    [
      'a message of the test',
      'Error: should not show: violates row-level security policy\n\nexpect(received).toBe(expected)\n\nExpected: true\nReceived: false',
    ],
    [
      'a port',
      'Error: expect(page).toHaveURL(expected) failed\n\nExpected: "http://localhost:4290/done"\nReceived: "http://localhost:4290/cart"',
    ],
    [
      'a diff',
      'Error: expect(received).toEqual(expected) // deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Array [\n-   "SQLITE_BUSY",\n+   "Cannot find module \'x\'",\n  ]',
    ],
  ])('CS-8 %s', (_, message) => {
    expect(classify(failing(message))).toMatchObject({
      category: 'ui-error',
      alternatives: [],
      retry: 'code_error',
    });
  });

  it.each<[string, Partial<Evidence>]>([
    [
      'a favicon',
      {
        network: [request({ url: 'http://localhost:3000/favicon.ico', status: 404, resourceType: 'other' })],
      },
    ],
    ['another origin', { network: [request({ url: 'https://cdn.example.net/api/x' })] }],
    [
      'an analytics host',
      {
        network: [
          request({
            url: 'https://www.google-analytics.com/g/collect',
            status: null,
            failure: 'net::ERR_FAILED',
          }),
        ],
        pageUrl: null,
      },
    ],
    [
      'an image',
      { network: [request({ url: 'http://localhost:3000/logo.png', status: 404, resourceType: 'image' })] },
    ],
    ['an aborted request', { network: [request({ status: null, failure: 'net::ERR_ABORTED' })] }],
    [
      'a source map',
      {
        console: [
          logged(
            'DevTools failed to load source map: Could not load content for http://localhost:3000/a.js.map: HTTP error: status code 404',
          ),
        ],
      },
    ],
    [
      'a favicon that only the console names',
      {
        console: [
          logged('Failed to load resource: the server responded with a status of 404 (Not Found)', {
            location: 'http://localhost:3000/favicon.ico:0:0',
          }),
        ],
      },
    ],
    ['a hint of a framework', { console: [logged('Download the React DevTools for a better experience')] }],
    [
      'a warning',
      {
        console: [
          logged("TypeError: Cannot read properties of undefined (reading 'x')", { type: 'warning' }),
        ],
      },
    ],
    [
      'a third-party script',
      {
        console: [
          logged('TypeError: x is not a function', {
            type: 'pageerror',
            stack: 'TypeError: x is not a function\n    at https://widget.example.net/w.js:1:2',
          }),
        ],
      },
    ],
    [
      'a line in the access log',
      {
        serverOutput:
          'GET /api/orders 200 in 5ms\nPOST /type-error 200\nINFO  TypeError: x is not a function was fixed',
      },
    ],
    ['words on the page', { ariaSnapshot: '- heading "Failed to compile: relation does not exist"' }],
  ])('CS-8 %s', (_, over) => {
    expect(classify(failing(locatorTimeout, over))).toMatchObject({ category: 'ui-error', alternatives: [] });
  });

  it('CS-8 says which rule decided, by which line, and with what confidence', () => {
    const long = 'x'.repeat(400);
    const { why, confidence } = classify(failing(`Some words\nSqliteError: no such table: ${long}\nMore`));
    expect(why[0]).toMatchObject({ category: 'database-error', source: 'error', confidence });
    expect(why[0]?.evidence).toBe(`SqliteError: no such table: ${long}`.slice(0, 300));
    expect(why.map((reason) => reason.confidence)).toEqual(
      why.map((reason) => reason.confidence).toSorted((a, b) => b - a),
    );
  });

  it('CS-8 counts a request once, and not again from the console', () => {
    const console = [
      logged('Failed to load resource: the server responded with a status of 500 (Internal Server Error)'),
    ];
    const { why } = classify(failing(locatorTimeout, { console, network: [request()] }));
    expect(why.map(({ source, evidence }) => [source, evidence])).toEqual([
      ['network', 'fetch POST /api/orders → 500'],
    ]);
  });

  it('CS-8 reads two compared statuses as a failed response, but not two other numbers', () => {
    const compared = (a: number, b: number) =>
      classify(
        failing(
          `Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: ${a}\nReceived: ${b}`,
        ),
      ).category;
    expect([compared(200, 500), compared(120, 500)]).toEqual(['network-error', 'ui-error']);
  });

  it('CS-8 recognizes an assertion on a status by the marked line of a snippet', () => {
    const snippet =
      '  11 | const response = await request.get("/");\n> 12 | expect(response.status()).toBe(200);';
    const error = anError('Error: expect(received).toBe(expected)\n\nExpected: 200\nReceived: 418', {
      snippet,
    });
    expect(classify(anEvidence({ errors: [error] })).category).toBe('network-error');
  });
});

describe('CS-10 a failure of the suite itself', () => {
  const notStarted = 'Error: Process from config.webServer was not able to start. Exit code: 2';
  it.each<[string, string, string, Category]>([
    [
      'a build that failed',
      notStarted,
      "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
      'build-error',
    ],
    [
      'a server that threw',
      notStarted,
      '/project/server.js:3\nReferenceError: config is not defined\n    at Object.<anonymous> (/project/server.js:3:1)',
      'runtime-error',
    ],
    ['a server that ended without a reason', notStarted, '', 'unknown'],
    [
      'a server that cannot compile',
      'Error: Timed out waiting 60000ms from config.webServer.',
      '✘ [ERROR] Could not resolve "./cart"',
      'build-error',
    ],
    [
      'a server that does not answer',
      'Error: Timed out waiting 60000ms from config.webServer.',
      '',
      'network-error',
    ],
    [
      'a port in use',
      'Error: http://localhost:4300 is already used, make sure that nothing is running on the port/url',
      '',
      'network-error',
    ],
    [
      'a spec that does not compile',
      'SyntaxError: /project/tests/a.spec.ts: Unexpected token (3:12)',
      '',
      'build-error',
    ],
    [
      'a database that does not answer',
      'Error: seed failed: connect ECONNREFUSED 127.0.0.1:5432',
      '',
      'database-error',
    ],
    [
      'a missing browser',
      "Error: browserType.launch: Executable doesn't exist at /home/dev/.cache/ms-playwright/chromium",
      '',
      'unknown',
    ],
    ['no tests', 'Error: No tests found', '', 'unknown'],
    [
      'an error that only the command line prints',
      '',
      'Error: playwright.config.ts: config.retries must be a non-negative number',
      'unknown',
    ],
  ])('CS-10 %s', (_, message, serverOutput, category) => {
    const errors = message === '' ? [] : [anError(message)];
    expect(classify(anEvidence({ errors, serverOutput })).category).toBe(category);
  });
});

describe('CS-11 the retry axis', () => {
  it.each<[string, string]>([
    ['error: permission denied for table orders', 'never_retry'],
    ['password authentication failed for user "app"', 'never_retry'],
    ['AxiosError: Request failed with status code 401', 'never_retry'],
    ['Error: 429 Too Many Requests: rate limit exceeded', 'never_retry'],
    ['Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/', 'env_error'],
    ['TimeoutError: page.goto: Timeout 30000ms exceeded.', 'env_error'],
    ['Error: getaddrinfo ENOTFOUND api.internal', 'env_error'],
    ["PrismaClientInitializationError: Can't reach database server at `db:5432`", 'env_error'],
    ['Error: 503 Service Unavailable', 'env_error'],
    ["ENOSPC: no space left on device, write\nerror TS5033: Could not write file 'a.js'", 'env_error'],
    ["browserType.launch: Executable doesn't exist at /x", 'env_error'],
    ['new row violates row-level security policy for table "orders"', 'code_error'],
    ['Error: expect(received).toBe(expected)\n\nExpected: 403\nReceived: 200', 'code_error'],
    [locatorTimeout, 'code_error'],
    ["TypeError: Cannot read properties of undefined (reading 'unauthorized')", 'code_error'],
    ["Error: Cannot find module 'rate-limit'", 'code_error'],
    ['Error: something odd', 'code_error'],
  ])('CS-11 %s: %s', (message, axis) => {
    expect(classify(failing(message)).retry).toBe(axis);
  });
});
