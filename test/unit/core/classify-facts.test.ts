import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { Category } from '../../../src/core/diagnosis.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

describe('EV-5 and EV-6: facts', () => {
  it('EV-5 reads SQLSTATE, table, column, constraint, policy and statement from database errors', () => {
    const serverOutput = `error: null value in column "total" of relation "orders" violates not-null constraint
    at Parser.parseErrorMessage (/project/node_modules/pg-protocol/dist/parser.js:285:98)
    at async save (/project/server/orders.ts:21:9) {
  code: '23502'
}
Failed query: insert into "orders" ("id") values ($1)`;
    expect(classify(failing(locatorTimeout, { serverOutput })).facts).toMatchObject({
      errorType: 'TimeoutError',
      sqlState: '23502',
      table: 'orders',
      column: 'total',
      sql: 'insert into "orders" ("id") values ($1)',
      source: 'server/orders.ts:21:9',
      locator: "getByRole('button', { name: 'Pay' })",
    });
    const policy = 'new row violates row-level security policy "own rows" for table "carts"';
    expect(classify(failing(policy)).facts).toMatchObject({ table: 'carts', policy: 'own rows' });
    const unique = 'duplicate key value violates unique constraint "orders_number_key"';
    expect(classify(failing(unique)).facts).toMatchObject({ constraint: 'orders_number_key' });
  });

  it('EV-5 takes the table from a PostgREST URL, and the endpoint from the request', () => {
    const url = 'https://abc.supabase.co/rest/v1/orders?select=id';
    expect(
      classify(failing(locatorTimeout, { network: [request({ url, method: 'GET', status: 403 })] })).facts,
    ).toMatchObject({
      table: 'orders',
      endpoint: 'GET https://abc.supabase.co/rest/v1/orders?select=id → 403',
    });
  });

  it('EV-5 takes no table from prose next to a database error', () => {
    const serverOutput = `[ERROR] server - error: database "shop" does not exist
[INFO] server - Exiting...
[ERROR] server - A timer or connection keeps Node.js from exiting
[INFO] server - back into maintenance`;
    const { facts } = classify(
      failing('Error: Process from config.webServer exited early.', { serverOutput }),
    );
    expect([facts.sql, facts.table]).toEqual([null, null]);
    const refused = `${serverOutput}\nFailed query: select * from orders`;
    expect(classify(failing(locatorTimeout, { serverOutput: refused })).facts.table).toBe('orders');
  });

  it('EV-6 reads the line that Node prints above an error if no frame names it', () => {
    const serverOutput = `$ node server/app.mjs
file:///project/server/app.mjs:13
const router = = Router()
               ^

SyntaxError: Unexpected token '='
    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)`;
    const { category, facts } = classify(
      failing('Error: Process from config.webServer exited early.', { serverOutput }),
    );
    expect([category, facts.source]).toEqual(['build-error', 'server/app.mjs:13:16']);
  });

  it('CS-8 decides by the error that Node prints, not by the line of Node’s own code above it', () => {
    const serverOutput = `node:internal/modules/esm/resolve:283
    throw new ERR_MODULE_NOT_FOUND(
          ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/project/server/limits.mjs' imported from /project/server/app.mjs
    at finalizeResolution (node:internal/modules/esm/resolve:283:11)`;
    const { why, facts } = classify(
      failing('Error: Process from config.webServer exited early.', { serverOutput }),
    );
    expect(why[0]?.evidence).toMatch(/^Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module/);
    expect(facts.source).toBe('server/app.mjs');
  });

  it('EV-5 gives no database facts without a database error', () => {
    const facts = classify(failing('TypeError: select \'a\' from "b" is not a function')).facts;
    expect([facts.sql, facts.table, facts.sqlState]).toEqual([null, null, null]);
  });

  it.each<[string, string | null]>([
    ['TypeError: x\n    at sum (http://localhost:3000/src/cart.ts?t=17:12:5)', 'src/cart.ts:12:5'],
    [
      'TypeError: x\n    at p (http://localhost:3000/node_modules/.vite/deps/react.js:1:1)\n    at sum (http://localhost:3000/src/cart.tsx:9:1)',
      'src/cart.tsx:9:1',
    ],
    ['TypeError: x\n    at sum (webpack-internal:///./components/cart.tsx:7:3)', 'components/cart.tsx:7:3'],
    ['TypeError: x\n    at sum (http://localhost:3000/@fs/project/lib/money.ts:4:2)', 'lib/money.ts:4:2'],
    ['TypeError: x\n    at sum (http://localhost:3000/assets/index-3f2a9b1c.js:1:2345)', null],
    ['TypeError: x\n    at sum (/elsewhere/lib/money.ts:4:2)', null],
    // Frames mapped by source maps.
    ['TypeError: x\n    at Page (src/app/(auth)/[id]/page.tsx:4:2)', 'src/app/(auth)/[id]/page.tsx:4:2'],
    [
      'TypeError: x\n    at p (node_modules/react-dom/index.js:1:1)\n    at q (../ui/src/a.ts:1:1)\n    at sum (src/cart.tsx:9:1)',
      'src/cart.tsx:9:1',
    ],
    ['TypeError: x\n    at p (ignore-listed:src/runtime.ts:1:1)\n    at webpack/bootstrap:1:1', null],
    ['TypeError: x\n    at Page (webpack-internal:///(rsc)/./src/page.tsx:7:3)', 'src/page.tsx:7:3'],
  ])('EV-6 finds the first frame of the user’s own code in a page’s exception (%#)', (stack, source) => {
    const text = "TypeError: Cannot read properties of undefined (reading 'x')";
    const console = [logged(text, { type: 'pageerror', stack })];
    expect(classify(failing(locatorTimeout, { console })).facts.source).toBe(source);
  });

  it.each<[rootDir: string, stack: string]>([
    ['/srv/größe', 'at sum (/srv/größe/src/cart.ts:9:1)'],
    ['/srv/größe', 'at sum (file:///srv/gr%C3%B6%C3%9Fe/src/cart.ts:9:1)'],
    ['C:\\shop', 'at sum (C:\\shop\\src\\cart.ts:9:1)'],
    ['C:\\shop', 'at sum (file:///C:/shop/src/cart.ts:9:1)'],
  ])('EV-6 finds a frame in %s by its absolute path: %s', (rootDir, stack) => {
    const serverOutput = `TypeError: Cannot read properties of undefined (reading 'x')\n    ${stack}`;
    const network = [request({ status: 500 })];
    const { facts } = classify(failing(locatorTimeout, { serverOutput, network, rootDir }));
    expect(facts.source).toBe('src/cart.ts:9:1');
  });

  it.each<[string, string]>([
    ['src/größe.ts(3,5): error TS2304: Cannot find name', 'src/größe.ts:3:5'],
    ['SyntaxError: /project/src/größe.js: Unexpected token (3:5)', 'src/größe.js:3:5'],
    ['Build failed with 1 error:\n./größe.go:12:5: undefined: x', 'größe.go:12:5'],
  ])('EV-6 reads the names of files in any script: %s', (message, source) => {
    expect(classify(failing(message)).facts.source).toBe(source);
  });

  it.each<[string, string, Category, string]>([
    [
      'Rails, of a view, not what it logs of a query',
      "  Product Load (0.1ms)  SELECT 1\n  ↳ app/controllers/products_controller.rb:8:in `show'\nCompleted 500 Internal Server Error in 40ms\n\n\n  \nActionView::Template::Error (undefined method `upcase' for nil:NilClass):\n    3: <p>a</p>\n    4: <p><%= nil.upcase %></p>\n  \napp/views/products/show.html.erb:4",
      'runtime-error',
      'app/views/products/show.html.erb:4',
    ],
    [
      'Rails, below the frames of gems',
      "ActionController::MissingExactTemplate (OrdersController#show is missing a template for request formats: text/html):\n  \nactionpack (6.1.7.10) lib/action_controller/metal/implicit_render.rb:45:in `default_render'\n/project/vendor/bundle/ruby/3.1.0/gems/rack-2.2/lib/rack.rb:4:in `call'\napp/middleware/tenant.rb:12:in `call'",
      'runtime-error',
      'app/middleware/tenant.rb:12',
    ],
    [
      'Rails, of a file with a syntax error',
      "SyntaxError (/project/app/models/order.rb:37: syntax error, unexpected end-of-input, expecting `end'):",
      'build-error',
      'app/models/order.rb:37',
    ],
    [
      'Sinatra',
      "2026-11-24 00:00:37 - ArgumentError - no ratings:\n\t/usr/lib/ruby/vendor_ruby/tilt/template.rb:181:in `call'\n\t/project/lib/entries.rb:4:in `average'",
      'runtime-error',
      'lib/entries.rb:4',
    ],
    [
      'PHP',
      'PHP Fatal error:  Uncaught Error: Call to a member function total() on null in /project/templates/cart.php:3\nStack trace:\n#0 /project/src/App.php(41): require()\n  thrown in /project/templates/cart.php on line 3',
      'runtime-error',
      'templates/cart.php:3',
    ],
    [
      'PHP, below the frames of packages',
      'PHP Fatal error:  Uncaught LogicException: closed in /project/vendor/acme/pdo/src/Pool.php:31\nStack trace:\n#0 /project/vendor/acme/pdo/src/Pool.php(12): open()\n#1 /project/src/Orders.php(41): all()',
      'runtime-error',
      'src/Orders.php:41',
    ],
    [
      'PHP, of a file that it cannot parse',
      'PHP Parse error:  syntax error, unexpected variable "$this" in /project/src/Api.php on line 15',
      'build-error',
      'src/Api.php:15',
    ],
  ])('EV-6 finds the place that %s names', (_, serverOutput, category, source) => {
    const found = classify(failing(locatorTimeout, { serverOutput, network: [request()] }));
    expect([found.category, found.facts.source]).toEqual([category, source]);
  });

  it.each<[string, string, string]>([
    ['Rollup', `[!] RollupError: Could not resolve "./price" from "src/cart.ts"\nsrc/cart.ts`, 'src/cart.ts'],
    [
      'Rollup for an export',
      `[!] RollupError: src/cart.ts (3:9): "price" is not exported by "src/price.ts", imported by "src/cart.ts".`,
      'src/cart.ts:3:9',
    ],
    [
      'esbuild',
      `✘ [ERROR] Could not resolve "./price"\n\n    src/cart.ts:1:20:\n      1 │ import './price'`,
      'src/cart.ts:1:20',
    ],
    [
      'Vite’s build',
      `error during build:\n[vite]: Rollup failed to resolve import "price" from "/project/src/cart.ts".`,
      'src/cart.ts',
    ],
    [
      'Vite, which does not know the line',
      `[vite] Internal server error: [postcss] ENOENT: no such file or directory, open './theme.css'\n  Plugin: vite:css\n  File: /project/src/index.css:undefined:NaN`,
      'src/index.css',
    ],
    [
      'webpack',
      `ERROR in ./src/cart.js 3:0-28\nModule not found: Error: Can't resolve './price' in '/project/src'`,
      'src/cart.js:3:0',
    ],
    [
      'Rspack',
      `ERROR in ./src/cart.js 1:1-22\n  × Module not found: Can't resolve './price' in '/project/src'\n   ╭─[1:1]`,
      'src/cart.js:1:1',
    ],
    [
      'Next.js',
      `Failed to compile.\n\n./src/app/cart/page.tsx\nModule not found: Can't resolve './price'`,
      'src/app/cart/page.tsx',
    ],
    [
      'Turbopack',
      `⨯ ./src/app/cart/page.tsx:3:1\nModule not found: Can't resolve './price'`,
      'src/app/cart/page.tsx:3:1',
    ],
    [
      'tsc',
      `src/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.`,
      'src/cart.ts:3:5',
    ],
    [
      'SWC',
      `  × Expected ';', '}' or <eof>\n   ╭─[/project/src/cart.ts:3:1]\n 3 │ const a = = 1`,
      'src/cart.ts:3:1',
    ],
    [
      'Babel',
      `SyntaxError: /project/src/cart.js: Unexpected token (3:5)\n\n> 3 | const = 1`,
      'src/cart.js:3:5',
    ],
    [
      'Rolldown for a part of a component file',
      `[UNRESOLVED_IMPORT] Could not resolve './price' in src/Cart.vue?vue&type=script&lang.ts\n   ╭─[ src/Cart.vue?vue&type=script&lang.ts:3:24 ]`,
      'src/Cart.vue:3:24',
    ],
    [
      'Node',
      `Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/project/src/price.js' imported from /project/src/cart.js`,
      'src/cart.js',
    ],
    [
      'Sass',
      `Error: Can't find stylesheet to import.\n1 │ @use "price";\n  src/cart.scss 1:1  root stylesheet`,
      'src/cart.scss:1:1',
    ],
  ])(
    'EV-6 names the file that %s complains about, in the error and in the server’s output',
    (_, text, source) => {
      expect(classify(failing(text)).facts.source).toBe(source);
      const started = failing('Error: Process from config.webServer was not able to start. Exit code: 1', {
        serverOutput: `listening on src/main.ts:1:1\n${'ready\n'.repeat(100)}${text}`,
      });
      expect(classify(started)).toMatchObject({ category: 'build-error', facts: { source } });
    },
  );
});

it.each([
  ["Error: Click getByText('Pay') had not finished when the test ended", "getByText('Pay')"],
  [
    'Error: locator.waitFor: Timeout 9ms exceeded.\n- waiting for locator("#pay") to be visible',
    'locator("#pay")',
  ],
])('EV-1 names only the locator that was waited for in %j', (message, locator) => {
  expect(classify(failing(message)).facts.locator).toBe(locator);
});

describe('EV-11 evidence of any size', () => {
  const megabyte = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length));
  it.each([
    'a',
    'at /',
    '(',
    '(a)/',
    '@webpack-internal:///',
    'a.ts:1:2',
    '"\\',
    "getByText('",
    '<a ',
    'Error: ',
    'Expected: "',
    '\n',
    '- Expected\n+ Received\n',
    ' is not a function',
    '[',
    'select ',
    '1|',
    '0',
    ' ',
  ])('EV-11 classifies a megabyte of %j by the part that it reads', (piece) => {
    const text = megabyte(piece);
    const console = [logged(text, { type: 'pageerror', stack: text })];
    const network = [request({ responseBody: text }), request({ url: `http://localhost:3000/${text}` })];
    const evidence = failing(`${locatorTimeout}\n${text}`, {
      console,
      network,
      serverOutput: text,
      ariaSnapshot: text,
    });
    expect(classify(evidence).category).not.toBe('unknown');
  });

  it('EV-11 reads the beginning and the end of a long text', () => {
    const text = `${megabyte('noise\n')}error TS2304: Cannot find name 'cart'.`;
    expect(classify(failing('', { serverOutput: text })).category).toBe('build-error');
  });

  it('EV-11 ignores colors', () => {
    const colored = '\u001b[31mTypeError\u001b[39m: \u001b[1mCannot read\u001b[22m properties of undefined';
    expect(classify(failing(colored))).toMatchObject({
      category: 'runtime-error',
      facts: { errorType: 'TypeError' },
    });
  });
});

it('CS-7 the list of modules of a successful webpack build decides nothing', () => {
  const listed =
    '      css ../node_modules/css-loader/dist/cjs.js!../node_modules/stylus-loader/dist/cjs.js!./src/core.styl 9.79 KiB [built] [code generated]';
  expect(classify(failing(locatorTimeout, { serverOutput: listed })).category).toBe('ui-error');
});

describe('EV-6 finds where an exception left the user’s own code in a Python traceback', () => {
  const answered500 = [request({ status: 500 })];
  const placeOf = (serverOutput: string) => {
    const { category, why, facts } = classify(
      failing(locatorTimeout, { serverOutput, network: answered500 }),
    );
    return [category, why[0]?.evidence, facts.source];
  };

  it('EV-6 takes the last frame that is not in a package', () => {
    const serverOutput = `Internal Server Error: /authors/
Traceback (most recent call last):
  File "/project/.venv/lib/python3.11/site-packages/django/core/handlers/base.py", line 181, in _get_response
    response = wrapped_callback(request, *callback_args, **callback_kwargs)
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/project/library/views.py", line 55, in authors
    return render(request, 'library/author_list.html', {'authors': found})
  File "/usr/lib/python3/dist-packages/django/template/loader.py", line 19, in get_template
    raise TemplateDoesNotExist(template_name, chain=chain)
django.template.exceptions.TemplateDoesNotExist: library/author_list.html
[24/Nov/2026 00:03:03] "GET /authors/ HTTP/1.1" 500 78001`;
    const told = 'django.template.exceptions.TemplateDoesNotExist: library/author_list.html';
    const expected = ['runtime-error', told, 'library/views.py:55'];
    expect(placeOf(serverOutput)).toEqual(expected);
    expect(placeOf(serverOutput.replace(/^/gm, 'web-1  | '))).toEqual(expected);
  });

  it('EV-6 takes the traceback of the deciding exception, not of another one in the log', () => {
    const serverOutput = `Traceback (most recent call last):
  File "/project/app/mail.py", line 3, in send
    raise MailQuotaReached(to)
app.mail.MailQuotaReached: ada@shop.test
Traceback (most recent call last):
  File "/project/app/crud.py", line 35, in total_cents
    raise UnknownPrice(order.product)
app.prices.UnknownPrice: Pen`;
    expect(placeOf(serverOutput.split('\n').slice(4).join('\n'))[2]).toBe('app/crud.py:35');
    expect(placeOf(serverOutput)).toEqual([
      'runtime-error',
      'app.mail.MailQuotaReached: ada@shop.test',
      'app/mail.py:3',
    ]);
  });

  it('EV-6 takes the frame of the exception that wraps a driver’s', () => {
    const serverOutput = `Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/sqlalchemy/engine/default.py", line 717, in do_execute
    cursor.execute(statement, parameters)
psycopg2.errors.UndefinedColumn: column "customer" of relation "orders" does not exist
LINE 1: INSERT INTO orders (customer, product_id, quantity) VALUES ('Ada...
                            ^


The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/project/app/crud.py", line 29, in create_order
    db.commit()
  File "/usr/lib/python3/dist-packages/sqlalchemy/orm/session.py", line 1451, in commit
    self._transaction.commit(_to_root=self.future)
sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedColumn) column "customer" of relation "orders" does not exist`;
    expect(placeOf(serverOutput)).toEqual([
      'database-error',
      'psycopg2.errors.UndefinedColumn: column "customer" of relation "orders" does not exist',
      'app/crud.py:29',
    ]);
  });

  it('EV-6 takes the line that Python cannot parse', () => {
    const serverOutput = `Traceback (most recent call last):
  File "<frozen importlib._bootstrap>", line 241, in _call_with_frames_removed
  File "/project/notes/__init__.py", line 22, in create_app
    from . import notes
  File "/project/notes/notes.py", line 50
    return render_template("notes/index.html")
IndentationError: unexpected indent`;
    const expected = ['build-error', 'IndentationError: unexpected indent', 'notes/notes.py:50'];
    expect(placeOf(serverOutput)).toEqual(expected);
  });

  it('EV-6 has none if no frame is the user’s', () => {
    const serverOutput = `Traceback (most recent call last):
  File "/project/.venv/lib/python3.11/site-packages/fastapi/routing.py", line 145, in serialize_response
    raise ValidationError(errors, field.type_)
pydantic.error_wrappers.ValidationError: 1 validation error for Order
response -> total_cents
  field required (type=value_error.missing)`;
    const told = 'pydantic.error_wrappers.ValidationError: 1 validation error for Order';
    expect(placeOf(serverOutput)).toEqual(['runtime-error', told, null]);
  });
});

it('CS-5 a request that a Python server could not send on is no exception of its code', () => {
  const serverOutput = `Traceback (most recent call last):
  File "/project/app/rates.py", line 9, in rates
    return httpx.get(url).json()
httpx.ConnectError: [Errno 111] Connection refused`;
  const network = [request({ status: 500 })];
  expect(classify(failing(locatorTimeout, { serverOutput, network })).category).toBe('network-error');
});
