import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { createMatcher } from '../../../src/core/classify/match.js';
import { rules } from '../../../src/core/classify/rules.js';
import { noiseRules } from '../../../src/core/classify/rules/noise.js';
import { retryRules } from '../../../src/core/classify/rules/retry.js';
import type { Pattern } from '../../../src/core/classify/rule.js';
import { anError, anEvidence } from '../../rig/builders.js';
import { failing, request } from './classify-evidence.js';

/** For each rule, a line that it is meant for. */
const examples: Readonly<Record<string, string>> = {
  'build/tsc-code': 'src/a.ts(1,2): error TS2345: no',
  'build/tsc-not-assignable': "Type 'number' is not assignable to type 'string'.",
  'build/tsc-unknown-name': "Property 'vat' does not exist on type 'Cart'.",
  'build/tsc-strictness': "Object is possibly 'undefined'.",
  'build/type-check-failed': 'Found 3 errors in 2 files.',
  'build/vite-plugin': '[vite] Internal server error: no',
  'build/vite-transform': '[vite] (ssr) Error when evaluating SSR module /a: no\n  Plugin: shop:compile',
  'build/unresolved-import': "Module not found: Error: Can't resolve './cart' in '/app/src'",
  'build/missing-export': '"vat" is not exported by "src/money.ts", imported by "src/cart.ts".',
  'build/bundler-failed': 'RollupError: Unexpected token',
  'build/bundler-gave-up': '✗ Build failed in 455ms',
  'build/webpack': 'Module parse failed: Unexpected token (3:4)',
  'build/next': 'Error: Turbopack build failed with 1 errors',
  'build/wrapper': '> Build error occurred',
  'build/component-compiler': '[@vue/compiler-sfc] Element is missing end tag.',
  'build/stale-chunk': 'ChunkLoadError: Loading chunk 17 failed.',
  'build/error-overlay': '<vite-error-overlay> intercepts pointer events',
  'build/next-overlay': '<nextjs-portal> intercepts pointer events',
  'build/overlay-on-page': '- text: "[plugin:vite:css] no"',
  'build/broken-script': 'script GET /src/cart.tsx → 500',
  'build/missing-script-line': 'GET http://localhost:3000/cart.js net::ERR_ABORTED 404 (Not Found)',
  'build/missing-script': 'script GET /dist/cart.js → 404',
  'build/module-not-found': "Error: Cannot find package 'left-pad' imported from /app/a.mjs",
  'build/package-exports': 'Package subpath \'./x\' is not defined by "exports" in /app/package.json',
  'build/esm-cjs': 'SyntaxError: Cannot use import statement outside a module',
  'build/missing-named-export': "The requested module './a.js' does not provide an export named 'b'",
  'build/native-module': 'compiled against a different Node.js version using NODE_MODULE_VERSION 108',
  'build/dependencies': 'npm error Missing script: "start"',
  'build/compiled-language': './main.go:12:5: undefined: total',
  'build/other-compilers': 'Program.cs(3,1): error CS0246: no such type',
  'build/python-import': "ImportError: cannot import name 'cart'",
  'build/syntax-of-python':
    '  File "/srv/shop/views.py", line 9\n    def index()\n               ^\nSyntaxError: expected colon',
  'build/syntax-with-position': 'SyntaxError: /app/a.ts: Missing semicolon. (3:4)',
  'build/syntax-of-javascript': "SyntaxError: Unexpected token '<'",
  'build/babel': "Support for the experimental syntax 'decorators' isn't currently enabled",
  'build/jsx': 'Adjacent JSX elements must be wrapped in an enclosing tag.',
  'build/unexpected-token': 'ERROR: Expected ";" but found "}"',
  'build/styles': 'Error: Cannot apply unknown utility class `p-99`',
  'build/command-failed': 'Error: Command failed: npm run build',
  'database/row-level-security': 'infinite recursion detected in policy for relation "members"',
  'database/constraint': 'violates foreign key constraint "orders_cart_fkey"',
  'database/missing-object': 'column orders.vat does not exist',
  'database/already-exists': 'relation "orders" already exists',
  'database/permission': 'permission denied for schema app',
  'database/postgres-value': 'invalid input syntax for type uuid: "1"',
  'database/postgres-transaction': 'current transaction is aborted',
  'database/postgres-connection': 'FATAL: sorry, too many clients already',
  'database/postgres-driver': 'PostgresError: no',
  'database/sqlstate': "code: '42P01',",
  'database/sql-log': 'FATAL:  no such thing',
  'database/mysql-code': 'ER_NO_SUCH_TABLE: no',
  'database/mysql-message': "Unknown column 'vat' in 'field list'",
  'database/sqlite': 'NOT NULL constraint failed: orders.total',
  'database/sql-server': "Invalid object name 'orders'.",
  'database/mongo': 'MongoServerError: no',
  'database/mongoose-validation':
    'ValidationError: Order validation failed: total: Path `total` is required.',
  'database/driver-frame': '    at run (/app/node_modules/pg/lib/client.js:5:6)',
  'database/thrown-by-driver':
    'Neo4jError: no\n    at run (/app/node_modules/neo4j-driver/lib/session.js:5:6)',
  'database/key-value': 'ReplyError: NOAUTH Authentication required',
  'database/prisma': 'Invalid `prisma.order.findMany()` invocation:',
  'database/prisma-code': "code: 'P2003'",
  'database/prisma-message': "Can't reach database server at `db`:`5432`",
  'database/query-builder': 'DrizzleQueryError: Failed query: select 1',
  'database/other-languages': 'ActiveRecord::RecordNotUnique: no',
  'database/migration': '2 pending migrations must be applied',
  'database/postgrest': "PGRST205: Could not find the table 'public.orders' in the schema cache",
  'database/supabase-auth': 'Database error saving new user',
  'database/firestore': 'FirebaseError: Missing or insufficient permissions.',
  'database/pool': 'Error: timeout exceeded when trying to connect',
  'database/connection': 'connect ECONNREFUSED ::1:3306',
  'database/unreachable': 'Unable to connect to the database',
  'runtime/type-error': 'cart.total is not a function',
  'runtime/reference-error': 'ReferenceError: window is not defined',
  'runtime/range-error': 'RangeError: Maximum call stack size exceeded',
  'runtime/json': 'Unexpected end of JSON input',
  'runtime/type-error-name': 'TypeError: no',
  'runtime/uncaught': 'Uncaught Error: no',
  'runtime/page-exception': 'Application error: a client-side exception has occurred',
  'runtime/node': 'Error [ERR_HTTP_HEADERS_SENT]: Cannot set headers after they are sent to the client',
  'runtime/console-errors-found': 'Error: 2 console errors detected',
  'runtime/resize-observer': 'ResizeObserver loop completed with undelivered notifications.',
  'runtime/missing-file': "ENOENT: no such file or directory, open 'a.json'",
  'runtime/thrown-error': 'Error: no cart\n    at sum (/app/cart.js:3:4)',
  'runtime/thrown-on-server': 'Error: DB_URL is not set\n    at /app/src/db.ts:6:24',
  'runtime/own-error-class': 'CartError: no cart',
  'runtime/hydration': 'Error: Hydration failed because the server rendered HTML did not match',
  'runtime/react-caught':
    'Error: no\n    at Cart (/cart.js:3:4) The above error occurred in the <Cart> component.',
  'runtime/react': 'Rendered more hooks than during the previous render.',
  'runtime/next-rendering': "Error: no\n    at Cart (src/cart.tsx:3:4) {\n  digest: '3958204630'",
  'runtime/next': 'Error: `cookies` was called outside a request scope',
  'runtime/vue': '[Vue warn]: Unhandled error during execution of setup function',
  'runtime/svelte': 'https://svelte.dev/e/effect_update_depth_exceeded',
  'runtime/angular': 'ERROR Error: NG0100: no',
  'runtime/jvm-or-dotnet': 'java.lang.IllegalStateException: no\n\tat com.shop.Cart.total(Cart.java:12)',
  'runtime/other-languages': "AttributeError: 'NoneType' object has no attribute 'total'",
  'network/browser-code': 'net::ERR_NAME_NOT_RESOLVED at http://shop.test/',
  'network/aborted': 'page.goto: net::ERR_ABORTED at http://shop.test/',
  'network/socket-code': 'Error: socket hang up',
  'network/connection-words': 'curl: (7) Failed to connect to localhost',
  'network/fetch': 'TypeError: fetch failed',
  'network/cors': "Access to fetch at 'http://a.test/' has been blocked by CORS policy",
  'network/tls': 'Error: self-signed certificate in certificate chain',
  'network/proxy': '[vite] http proxy error: /api/cart',
  'network/stream': "WebSocket connection to 'ws://localhost:3000/live' failed",
  'network/download': 'Failed to download Chromium 120',
  'network/own-request-5xx': 'fetch POST /api/cart → 502',
  'network/missing-file': 'script GET /scripts/cart.js → 404',
  'network/own-request-4xx': 'xhr GET /api/cart → 404',
  'network/refused-to-test': 'api GET /api/cart → 404',
  'network/own-request-signed-out': 'fetch GET /api/me → 401',
  'network/own-request-unanswered': 'fetch GET /api/cart → no answer until the test ended',
  'network/own-request-failed': 'fetch GET /api/cart → net::ERR_CONNECTION_RESET',
  'network/status-words': 'Error: 502 Bad Gateway',
  'network/status-number': 'Error: HTTP 500',
  'network/console-resource': 'Failed to load resource: the server responded with a status of 503 (no)',
  'network/host-not-allowed': 'Blocked host: shop.test',
  'network/access-log': 'POST /api/cart 500 12ms',
  'network/client-library': 'AxiosError: no',
  'network/status-assertion': 'AssertionError: expected 500 to equal 200',
  'network/status-values': 'Expected status-like 200, received 500',
  'network/navigation-timeout': 'page.reload: Timeout 30000ms exceeded.',
  'network/awaited-navigation': 'page.waitForNavigation: Timeout 500ms exceeded.',
  'network/response-timeout':
    'page.waitForResponse: Timeout 500ms exceeded while waiting for event "response"',
  'network/api-request': 'apiRequestContext.get: no',
  'network/navigating-log': '  - navigating to "http://localhost/", waiting until "load"',
  'network/web-server-unreachable': 'Error: listen EADDRINUSE: address already in use :::3000',
  'ui/unfinished-action': 'Error: Click locator() had not finished when the test ended',
  'ui/strict-mode': "strict mode violation: locator('a') resolved to 2 elements",
  'ui/intercepted': '<div> intercepts pointer events',
  'ui/locator-assertion': 'Error: expect(locator).toBeVisible() failed',
  'ui/value-assertion': 'Error: expect(received).toBe(expected)',
  'ui/screenshot': '120 pixels (ratio 0.01 of all image pixels) are different.',
  'ui/action-timeout': 'locator.hover: Timeout 500ms exceeded.',
  'ui/waiting-for-element': 'waiting for locator()',
  'ui/actionability': '  - element is not enabled',
  'ui/element-not-found': 'TestingLibraryElementError: Unable to find an element with the text',
  'ui/locator-complaint': 'locator.selectOption: Error: Malformed option',
  'ui/python-frame': '  File "/x/playwright/_impl/_locator.py", line 3, in hover',
  'ui/waiting-for-event': 'while waiting for event "download"',
  'ui/accessibility': '3 accessibility violations were detected',
  'ui/click-timeout-words': 'Timed out retrying after 4000ms',
  'ui/timeout': 'Timeout 500ms exceeded',
  'unknown/crash': 'Error: Page crashed',
  'unknown/out-of-memory': 'FATAL ERROR: JavaScript heap out of memory',
  'unknown/browser-missing': 'npx playwright install',
  'unknown/bare-timeout': 'Test timeout of 30000ms exceeded.',
  'unknown/runner': 'Error: Playwright Test did not expect test() to be called here.',
  'unknown/web-server-exited': 'Error: Process from config.webServer exited early.',
  'unknown/protocol': 'Protocol error (Page.navigate): no',
  'build/error-at-position': 'src/cart.go:12:5: error: no such thing',
  'build/compiler-frame': '    at TransformPluginContext.transform (file:///app/plugin.js:3:4)',
  'build/thrown-by-compiler':
    'ERROR  /cart.vue — no\n\n    at no (node_modules/@vue/compiler-core/dist/compiler-core.cjs.js:1:2)',
  'build/plugin-speaks': '[@shop/vite-icons:load] no icon of that name',
  'build/import-of-loader': 'error: Module not found "file:///app/src/vat.ts".',
  'build/prerender': 'ERROR  Exiting due to prerender errors.',
  'build/toolchain': 'Application bundle generation failed. [1.2 seconds]',
  'build/command-missing': 'sh: 1: vite: not found',
  'database/translated-severity': 'FEHLER:  Wert zu lang für »kurz«',
  'database/translated-message': '关系 "orders" 不存在',
  'database/layer-frame': '  File "/srv/django/db/backends/base/base.py", line 3, in cursor',
  'database/said-on-page': '- text: relation "orders" does not exist',
  'database/error-object': "  routine: 'exec_stmt_raise',",
  'database/sql-beside-error': 'Error: no, at `insert into orders values (1)`',
  'database/words-of-a-database': 'Integrity constraint violation on the orders',
  'network/status-in-prose': '500 on /cart',
  'ui/prose': 'the menu does not open',
  'network/client-exception': 'requests.exceptions.ChunkedEncodingError: no',
  'network/page-navigation': 'page.goto: Page loaded nothing',
  'network/webkit-words': 'page.goto: Could not connect to the server.',
  'network/translated': 'connect: Verbindungsaufbau abgelehnt',
  'network/graphql': '"extensions": { "code": "INTERNAL_SERVER_ERROR" }',
  'runtime/selector-of-the-page': "SyntaxError: '##cart' is not a valid selector",
  'runtime/server-rendering': '- rendered on server: <!--v-if-->',
  'runtime/named-exception': 'CartTotalError: the sum is off',
  'runtime/page-frame': '    at total (http://localhost:3000/assets/cart.js:1:2345)',
  'runtime/ruby': 'Payment::Declined (the card has expired):',
  'runtime/php':
    'PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted in /srv/src/Cart.php on line 9',
  'runtime/python':
    '  File "/srv/shop/stock.py", line 9, in lend\n    raise NotAvailable(book)\nshop.stock.NotAvailable: Emma',
  'runtime/traceback': 'Traceback (most recent call last):',
  'ui/plain-assertion': 'java.lang.AssertionError: expected [4] but found [1]',
  'ui/aria-difference': '-   - button "Pay 12"',
  'ui/page-action': 'page.selectOption: Error: no such option',
  'database/first-line': 'Error: the database of the tests is missing',
  'build/first-line': 'Error: the bundle is missing',
  'ui/first-line': 'Error: the button is missing',
  'network/first-line': 'Error: the gateway refused us',
  'build/loader-chain': './node_modules/css-loader/dist/cjs.js??ruleSet[1]!./src/cart.css',
  'build/output-missing': "ENOENT: no such file or directory, open '/app/.next/BUILD_ID'",
  'build/syntax-of-ruby': "/srv/app.rb:24: syntax error, unexpected `if' modifier, expecting ']'",
  'build/syntax-words': "Identifier 'cart' has already been declared",
  'network/access-log-refused': '404 GET /api/cart 3 ms',
  'network/service-error-name': 'PaymentsAuthenticationError: no',
  'runtime/page-exception-in-error': 'Application error: a client-side exception has occurred',
  'runtime/prerender': 'Error occurred prerendering page "/cart".',
  'runtime/prerender-in-error': 'Export encountered errors on following paths:',
  'runtime/script-frame': '    at total (/app/src/cart.ts:3:4)',
  'runtime/uncaught-in-error': 'Unhandled Rejection: no',
  'runtime/undefined-value': 'TypeError: cart.items is undefined',
  'unknown/machine': 'ENOSPC: System limit for number of file watchers reached',
  'retry/received-refusal': 'expected 200 "OK", got 401 "Unauthorized"',
  'retry/received-outage': 'expected 502 to equal 200',
  'retry/database-grant': 'permission denied for table orders',
  'retry/identity': 'Error: 403 Forbidden',
  'retry/quota': 'rate limit exceeded',
  'retry/disk-and-memory': 'ENOSPC: no space left on device',
  'retry/registry': 'npm error network no',
  'retry/database-unreachable': 'database is locked',
  'retry/connection': 'read ECONNRESET',
  'retry/no-answer': 'page.goto: Timeout 500ms exceeded',
  'retry/service-down': '504 Gateway Timeout',
  'retry/browser-or-machine': 'Target closed',
  'noise/favicon': 'GET /favicon.ico 404',
  'noise/source-map': 'Source map error',
  'noise/third-party': 'https://www.google-analytics.com/g/collect',
  'noise/development-hint': 'Download the React DevTools',
  'noise/health-check': 'FATAL:  role "root" does not exist',
  'noise/quiet-log-level': '12:00:01 INFO started',
  'noise/answered-well': 'GET /api/cart 200 3ms',
};

/** Rules whose evidence is below the frames that show what it is. */
const endsWithEvidence = new Set(['runtime/python', 'build/syntax-of-python']);

const all: readonly Pattern[] = [...rules, ...retryRules, ...noiseRules];

describe('CS-9 rules are data', () => {
  it('CS-9 there is exactly one example for each rule, and no two rules have the same id', () => {
    expect(all.map(({ id }) => id).toSorted()).toEqual(Object.keys(examples).toSorted());
  });

  it.each(all.map((rule) => [rule.id, rule] as const))('CS-9 %s matches its example', (id, rule) => {
    const example = examples[id] ?? '';
    expect(rule.pattern.test(example)).toBe(true);
    expect(rule.unless?.test(example) ?? false).toBe(false);
  });

  it.each(rules.map((rule) => [rule.id, rule] as const))(
    'CS-8 %s gives the line as its evidence',
    (id, rule) => {
      const before = id.endsWith('/first-line') ? '' : 'one line\n';
      const text = `${before}${examples[id]}\nanother`;
      const [source = 'error'] = rule.sources;
      const reason = createMatcher()
        .reasonsIn([{ source, text }])
        .find((one) => one.rule === id);
      expect(reason).toMatchObject({ category: rule.category, source, confidence: rule.confidence });
      const lines = examples[id]?.split('\n') ?? [];
      expect(reason?.evidence).toBe((endsWithEvidence.has(id) ? lines.at(-1) : lines[0])?.trim());
    },
  );

  it('CS-8 gives the part of a long line that matches', () => {
    const sql = `select ${'"tasks"."title", '.repeat(12)}"projects"."label" from "tasks"`;
    const text = `[{"error":{"message":${JSON.stringify(`${sql} - column projects.label does not exist`)},"code":-32603}}]`;
    expect(
      classify(failing('Error: no', { network: [request({ responseBody: text })] })).why[0]?.evidence,
    ).toBe('…column projects.label does not exist","code":-32603}}]');
  });

  it('CS-8 gives the whole clause that matches', () => {
    const text = `Error: ${'insert into projects (name) values ($1), '.repeat(4)} - duplicate key value violates unique constraint "projects_name_unique"`;
    expect(classify(failing(text)).why[0]?.evidence).toBe(
      '…duplicate key value violates unique constraint "projects_name_unique"',
    );
  });

  it.each(all.map((rule) => [rule.id, rule] as const))('CS-9 %s keeps no state', (_, rule) => {
    expect(rule.pattern.flags).not.toMatch(/[gy]/);
  });

  it('EV-11 no pattern takes more than linear time over its own words', () => {
    const slow = all.filter(({ pattern }) => {
      const started = process.cpuUsage().user;
      for (const word of wordsOf(pattern)) pattern.test(word.repeat(6000 / word.length));
      return process.cpuUsage().user - started > 400_000;
    });
    expect(slow.map(({ id }) => id)).toEqual([]);
  });

  it('CS-7 the example of a decisive rule, as the error, gets the rule’s class at least as an alternative', () => {
    const deciding = rules.filter((rule) => rule.confidence >= 0.7 && rule.sources.includes('error'));
    const lost = deciding.filter((rule) => {
      const { category, alternatives } = classify(anEvidence({ errors: [anError(examples[rule.id])] }));
      return (
        category !== rule.category && !alternatives.includes(rule.category) && rule.category !== 'unknown'
      );
    });
    expect(lost.map(({ id }) => id)).toEqual([]);
  });
});

/** The words in a pattern's source, alone and followed by a space. */
function wordsOf({ source }: RegExp): string[] {
  const words = source.split(/\\?[^\w'".:/ ]+/).filter((word) => word.trim().length > 1);
  return [...new Set(words)].flatMap((word) => [word, `${word} `]);
}
