import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { Category, RetryAxis } from '../../../src/core/diagnosis.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

/** Texts that no rule for a certain tool matches: their class shows in their form, in another language, or in a fragment. */
const unseen: readonly (readonly [what: string, text: string, category: Category, retry: RetryAxis])[] = [
  ['an unknown compiler', 'lib/cart.rs:12:9: error: no such thing', 'build-error', 'code_error'],
  [
    'a plugin that threw',
    'TypeError: no ast\n    at TransformPluginContext.handler (file:///x/p.js:1:2)',
    'build-error',
    'code_error',
  ],
  [
    'a loader’s message without its beginning',
    'Export named "vat" not found in module "/app/money.ts".',
    'build-error',
    'code_error',
  ],
  [
    'a shell in German',
    "'vite' wird nicht als interner oder externer Befehl erkannt",
    'build-error',
    'code_error',
  ],
  [
    'a directive of a style sheet',
    '`@layer shop` is used but no matching `@tailwind shop` directive is present.',
    'build-error',
    'code_error',
  ],
  ['PostgreSQL in French', "ERREUR:  la relation « commandes » n'existe pas", 'database-error', 'code_error'],
  [
    'a failed sign-in to PostgreSQL in Spanish',
    'la autentificación password falló para el usuario «tienda»',
    'database-error',
    'never_retry',
  ],
  [
    'a frame of a database connection',
    '  File "/srv/django/db/backends/base/base.py", line 9, in ensure_connection',
    'database-error',
    'env_error',
  ],
  [
    'the tail of an error object',
    "  severity: 'ERROR',\n  routine: 'errorMissingColumn' }",
    'database-error',
    'code_error',
  ],
  ['a mapper in Java', 'PersistenceException: could not execute statement', 'database-error', 'code_error'],
  [
    'a database that no rule names',
    'Error: the schema of the shop is missing',
    'database-error',
    'code_error',
  ],
  [
    'a server rendering that differs from the client’s',
    '- rendered on server: <!---->\n- expected on client: div',
    'runtime-error',
    'code_error',
  ],
  ['an exception of the app', 'CartTotalError: the sum is off', 'runtime-error', 'code_error'],
  [
    'frames of a bundle',
    'the sum is off\n    at t (http://localhost:3000/assets/cart.js:1:22)',
    'runtime-error',
    'code_error',
  ],
  ['a client in Python', 'httpx.RemoteProtocolError: the server left', 'network-error', 'code_error'],
  ['WebKit', 'page.goto: Could not connect to the server.', 'network-error', 'env_error'],
  ['an address without a host', 'page.goto: Cannot navigate to invalid URL', 'network-error', 'code_error'],
  [
    'an error that Apollo’s documentation words',
    '[GraphQL error]: Message: no',
    'network-error',
    'code_error',
  ],
  ['a socket in German', 'connect: Verbindungsaufbau abgelehnt', 'network-error', 'code_error'],
  ['a GraphQL error', '{"errors":[{"extensions":{"code":"FORBIDDEN"}}]}', 'network-error', 'code_error'],
  ['another test runner', 'expected [4] but found [1]', 'ui-error', 'code_error'],
  ['two roles that differ', '- - button "Pay 12"\n+ - button "Pay 13"', 'ui-error', 'code_error'],
  ['an action without a rule', 'page.check: Error: that is a radio', 'ui-error', 'code_error'],
  [
    'a garbage collector near its limit',
    '[9:0x5] 1208 ms: Mark-Compact 2030.2 (2059.4) -> 2027.5 (2080.9) MB',
    'unknown',
    'env_error',
  ],
  ['a browser that did not start', '[pid=12][err] no display', 'unknown', 'env_error'],
  ['Docker that is not there', 'Is the docker daemon running?', 'unknown', 'env_error'],
  [
    'a driver',
    'Error: odd\n    at a (/app/node_modules/ioredis/built/a.js:1:2)',
    'database-error',
    'code_error',
  ],
];

/** What browsers write to the console of a page about a connection, in place of the word that Chromium has for it. */
const browsers: readonly (readonly [what: string, text: string, category: Category, retry: RetryAxis])[] = [
  [
    'a socket that Firefox cannot open',
    'Firefox can’t establish a connection to the server at ws://localhost:3000/live.',
    'network-error',
    'env_error',
  ],
  [
    'the socket of a development server in Firefox',
    'Firefox can’t establish a connection to the server at ws://localhost:5173/?token=x.',
    'ui-error',
    'code_error',
  ],
  [
    'a stream of another type',
    'EventSource\'s response has a MIME type ("text/html") that is not "text/event-stream". Aborting the connection.',
    'network-error',
    'code_error',
  ],
  [
    'mixed content in WebKit',
    '[blocked] The page at https://a.test/ requested insecure content from http://a.test/b.',
    'network-error',
    'code_error',
  ],
  [
    'a policy in Firefox',
    "Content-Security-Policy: The page’s settings blocked the loading of a resource (connect-src) at https://a.test/ because it violates the following directive: “connect-src 'self'”",
    'network-error',
    'code_error',
  ],
];

/** An assertion that names its own time limit twice. */
const timedOutAssertion = `Error: expect(locator).toBeVisible() failed

Locator: getByText('Paid')
Expected: visible
Timeout: 5000ms
Error: element(s) not found

Call log:
  - Expect "toBeVisible" with timeout 5000ms
  - waiting for getByText('Paid')`;

/** What programs put before each line of a log. */
const prefixes: readonly (readonly [who: string, prefix: string])[] = [
  ['GitHub Actions', '2024-03-05T10:11:12.1234567Z '],
  ['a clock', '[10:11:12] '],
  ['a container', 'shop-web-1  | '],
  ['Playwright for a server', '[WebServer] '],
  ['Playwright for its own calls', '  pw:api '],
  ['pytest', 'E       '],
  ['one of several browsers', '[chrome #01-8] '],
  ['a task runner', '@shop/web:test: '],
  ['Next for an error', '⨯ '],
  ['PHP', '[Mon Nov  2 23:58:11 2026] '],
  ['PHP in an error log', '[24-Nov-2026 00:00:21 UTC] '],
  [
    'Ruby’s logger',
    'F, [2026-11-24T00:00:37.123456 #4711] FATAL -- : [0f8fad5b-d9cb-469f-a165-70867728950e] ',
  ],
  ['Puma for an error', '2026-11-24 00:16:31 +0000 Rack app ("GET /products" - (127.0.0.1)): '],
  ['Next for the page', '[browser] '],
];

/** Failures whose rules match at the beginning of a line. */
const atLineBegin: readonly (readonly [text: string, category: Category])[] = [
  ['- rendered on server: <!---->\n- expected on client: div', 'runtime-error'],
  ["    Locator: locator('#sum')\n    Expected: visible\n    Error: element(s) not found", 'ui-error'],
  ['  - navigating to "http://localhost:3000/", waiting until "load"', 'network-error'],
  ['FATAL:  the schema is locked', 'database-error'],
  ["Unexpected identifier 'cart'", 'build-error'],
];

describe('CS-1 lines that another program passed on', () => {
  it.each(prefixes)('CS-1 ignores what %s puts before each line', (_, prefix) => {
    for (const [text, category] of atLineBegin) {
      const passedOn = text.replace(/^/gm, prefix);
      expect([passedOn, classify(failing(passedOn)).category]).toEqual([passedOn, category]);
    }
  });

  it('CS-1 reads a text that is quoted line by line, but not a code frame', () => {
    const quoted = 'page.goto: net::ERR_CONNECTION_REFUSED at http://localhost/\nCall log:'.replace(
      /^/gm,
      '> ',
    );
    expect(classify(failing(quoted))).toMatchObject({ category: 'network-error', retry: 'env_error' });
    const frame = '> 14 | throw new TypeError("x is not a function")';
    expect(classify(failing(frame)).category).toBe('unknown');
  });

  it('CS-1 treats typographic quotation marks like plain ones', () => {
    const text = 'column \u201Cvat\u201D of relation \u201Corders\u201D does not exist';
    expect(classify(failing(text)).category).toBe('database-error');
  });

  it('CS-8 does not mistake a line of a code frame for one of a container', () => {
    const frame = `${locatorTimeout}\n\n  3 | throw new TypeError('x is not a function')\n> 4 | await pay()`;
    expect(classify(failing(frame)).category).toBe('ui-error');
  });

  it('CS-1 reads the strings inside JSON', () => {
    const text = JSON.stringify({ error: 'ERROR\nrelation "orders" does not exist\n    at pg (a.js:1:2)' });
    expect(classify(failing(text)).category).toBe('database-error');
  });

  it('CS-8 quotes within a compared value do not end it', () => {
    const text =
      'Error: expect(locator).toHaveText(expected) failed\n\nExpected: "ok"\nReceived: "no \\"relation \\"a\\" does not exist\\""';
    expect(classify(failing(text)).category).toBe('ui-error');
  });

  it.each<[string, Category]>([
    [
      '  1) [webkit] › cart.spec.ts:3:1 › pays ─── Error: page.goto: net::ERR_CONNECTION_REFUSED at x',
      'network-error',
    ],
    ['● cart › shows TypeError: x is not a function › pays', 'unknown'],
    ["Locator: locator('#a') Expected: visible Timeout: 5000ms Error: element(s) not found", 'ui-error'],
    ['Expected: "relation \\"a\\" does not exist" Received: "" Error: element(s) not found', 'ui-error'],
  ])('CS-8 treats only the title and the values on a line as quotes: %s', (text, category) => {
    expect(classify(failing(text)).category).toBe(category);
  });
});

describe('CS-7 a message that only passes on a failure counts less than one that names it', () => {
  const uncaught =
    'node:internal/process/promises:288\n    triggerUncaughtException(err, true /* fromPromise */);\n\n';
  it.each<[string, string, Category]>([
    ['the browser', 'browserType.launch: Host system is missing dependencies!', 'unknown'],
    ['a locator', locatorTimeout, 'ui-error'],
    ['a socket', 'Error: connect ECONNREFUSED 127.0.0.1:8080', 'network-error'],
    ['a database', 'PostgresError: relation "orders" does not exist', 'database-error'],
    ['the app itself', 'Error: the cart is odd', 'runtime-error'],
  ])('CS-7 an uncaught error of %s', (_, text, category) => {
    expect(classify(failing(uncaught + text)).category).toBe(category);
  });

  it('CS-7 a page that a build could not prerender has the class of its failed request, or else is an exception', () => {
    const page = 'Error occurred prerendering page "/cart".\n';
    const refused = `${page}TypeError: fetch failed\n  [cause]: Error: connect ECONNREFUSED ::1:3000`;
    expect(classify(failing(refused))).toMatchObject({ category: 'network-error', retry: 'env_error' });
    expect(classify(failing(page)).category).toBe('runtime-error');
  });

  it('CS-7 an uncaught exception of the page is the cause of a locator that waits in vain', () => {
    const thrown = failing(locatorTimeout, {
      console: [logged('Uncaught Error: no cart', { type: 'pageerror' })],
    });
    expect(classify(thrown).category).toBe('runtime-error');
  });
});

describe('CS-11 of two compared statuses, only the received one counts', () => {
  it.each<[string, RetryAxis]>([
    ['expected 200 "OK", got 401 "Unauthorized"', 'never_retry'],
    ['expected 401 "Unauthorized", got 200 "OK"', 'code_error'],
    ['expected 401 "Unauthorized", got 400 "Bad Request"', 'code_error'],
    ['AssertionError: expected 503 to equal 200', 'env_error'],
    ['AssertionError: expected 200 to equal 503', 'code_error'],
    ['Error: expect(received).toBe(expected)\n\nExpected: 200\nReceived: 502', 'env_error'],
    ['Error: expect(received).toBe(expected)\n\nExpected: 403\nReceived: 200', 'code_error'],
    ['cart_test.go:430: got unexpected status code: 503', 'env_error'],
    ['an unauthenticated user should see the cart: expected 200 "OK", got 500', 'code_error'],
  ])('CS-11 %s', (text, retry) => {
    expect(classify(failing(text))).toMatchObject({ category: 'network-error', retry });
  });
});

describe('CS-8 a number is a status only where one is expected', () => {
  it.each<[string, Category]>([
    ['500 on /cart', 'network-error'],
    ['Request to the shop failed: 503', 'network-error'],
    ['landed on localhost:4000/cart (404)', 'network-error'],
    ['500 items on /cart', 'unknown'],
    ['odd: error in line 503', 'unknown'],
    ['odd at port 4290', 'unknown'],
    ['odd at cart.js:404', 'unknown'],
    ['429 ms on the way', 'unknown'],
  ])('CS-8 %s', (text, category) => {
    expect(classify(failing(text)).category).toBe(category);
  });
});

describe('unfamiliar texts', () => {
  it.each(unseen)('CS-6 recognizes %s', (_, text, category, retry) => {
    expect(classify(failing(text))).toMatchObject({ category, retry });
  });

  it.each(browsers)('CS-5 recognizes %s beside an assertion', (_, text, category, retry) => {
    const found = classify(failing(timedOutAssertion, { console: [logged(text)] }));
    expect(found).toMatchObject({ category, retry });
  });

  it('CS-3 reads a warning of Vue, but no other', () => {
    const warned = (text: string) =>
      classify(failing(locatorTimeout, { console: [logged(text, { type: 'warning' })] })).category;
    expect(warned('[Vue warn]: Failed to resolve component: cart-row')).toBe('runtime-error');
    expect(warned('Failed to resolve component: cart-row is not a function')).toBe('ui-error');
  });

  it('CS-2 does not blame a driver for the values that it got', () => {
    const text = 'TypeError: a.b is not a function\n    at a (/app/node_modules/ioredis/built/a.js:1:2)';
    expect(classify(failing(text)).category).toBe('runtime-error');
  });

  it.each([
    ['validation-failed', 'database-error'],
    ['access-denied', 'ui-error'],
  ])('CS-2 Hasura’s %s means a %s', (code, category) => {
    const responseBody = `{"errors":[{"message":"no","extensions":{"path":"$.selectionSet.a","code":"${code}"}}]}`;
    const network = [request({ status: 200, responseBody })];
    expect(classify(failing(locatorTimeout, { network })).category).toBe(category);
  });

  it.each([
    ['a name in a path', 'Error: /srv/database/schema.txt was read'],
    ['a word without a failure', 'Error: all about the database'],
    ['a word within a name', 'Error: superdatabaseless is missing'],
    ['a word far from the first line', `Error: odd\n${'x\n'.repeat(5)}the database is missing`],
  ])('CS-8 a word that merely occurs decides nothing: %s', (_, text) => {
    expect(classify(failing(text)).category).toBe('unknown');
  });

  it('CS-8 the subject of the first line counts less than any other rule', () => {
    const text = `Error: the orders table is missing\n${locatorTimeout}`;
    expect(classify(failing(text)).category).toBe('ui-error');
    const refused = failing('Error: the button is missing', { network: [request()] });
    expect(classify(refused).category).toBe('network-error');
  });
});
