import { describe, expect, it } from 'vitest';
import type { DiagnosedFailure } from '../../../src/core/cause.js';
import { classify } from '../../../src/core/classify/classify.js';
import type { ConsoleEntry, Evidence, NetworkEntry } from '../../../src/core/evidence.js';
import { groupCauses } from '../../../src/core/group.js';
import { aTest, aTestFailure, anError, anEvidence, failing } from '../../rig/builders.js';

let count = 0;

/** A failure as the classifier sees it, with a signature of its own. */
function failed(message: string, over: Partial<Evidence> = {}): DiagnosedFailure {
  count += 1;
  const evidence = anEvidence({ errors: [anError(message)], pageUrl: 'http://localhost:3000/cart', ...over });
  const failure = aTestFailure({ test: aTest(`t${count}`), errors: evidence.errors });
  const signature = `shop:Error:${String(count).padStart(8, '0')}`;
  return { n: count, failure, evidence, diagnosis: classify(evidence), signature, rerunIds: [`t${count}`] };
}

const clickOn = (locator: string) =>
  `TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - waiting for ${locator}`;
const sizes = (failures: DiagnosedFailure[]) => groupCauses(failures).map(({ members }) => members.length);

function thrown(
  text: string,
  at: string | null = 'http://localhost:3000/src/cart.ts:12:5',
): Partial<Evidence> {
  const entry: ConsoleEntry = {
    time: 0,
    type: 'pageerror',
    text,
    location: '',
    stack: at === null ? null : `${text}\n    at sum (${at})`,
  };
  return { console: [entry] };
}

function answered(over: Partial<NetworkEntry>): Partial<Evidence> {
  const base = {
    time: 0,
    method: 'POST',
    url: 'http://localhost:3000/api/orders',
    resourceType: 'fetch',
    status: 500,
    durationMs: 1,
  };
  const empty = {
    failure: null,
    requestHeaders: {},
    responseHeaders: {},
    requestBody: null,
    responseBody: null,
  };
  return { network: [{ ...base, ...empty, ...over }] };
}

const missingColumn = (name: string) => `{"error":"column orders.${name} does not exist"}`;

describe('HL-6 failures with the same root cause are one cause', () => {
  it('HL-6 joins those with the same signature although only one of them caught why', () => {
    const same = { signature: 'shop:Error:00000000' };
    const [caught, not] = [
      failed(clickOn('#buy'), answered({ responseBody: missingColumn('total') })),
      failed(clickOn('#buy')),
    ];
    expect(caught?.diagnosis.category).not.toBe(not?.diagnosis.category);
    expect(
      sizes([
        { ...caught, ...same },
        { ...not, ...same },
      ]),
    ).toEqual([2]);
  });

  it('HL-6 joins those with the same signature, in order of first appearance', () => {
    const failures = [failing('a', 'x'), failing('b', 'y'), failing('c', 'x')];
    const causes = groupCauses(failures);
    expect(causes.map(({ id, members }) => [id, members.map(({ rerunIds }) => rerunIds[0])])).toEqual([
      ['c1', ['a', 'c']],
      ['c2', ['b']],
    ]);
    expect(causes.map(({ parent, environment }) => [parent, environment])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  const alike = (failure: DiagnosedFailure) => ({ ...failure, signature: 'shop:Error:alike' });
  const status = (received: number) =>
    `Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 200\nReceived: ${received}`;
  const api = (url: string, answer: number) =>
    failed(
      status(answer),
      answered({ resourceType: 'api', url: `http://localhost:3000${url}`, status: answer }),
    );
  const thrownIn = (file: string) =>
    failed(status(500), {
      ...answered({ resourceType: 'api' }),
      ...thrown('TypeError: x is not a function', `http://localhost:3000/src/${file}:3:5`),
    });
  it.each<[string, number, DiagnosedFailure[]]>([
    ['two missing endpoints are two causes', 2, [api('/api/a', 404), api('/api/b', 404)]],
    ['refusals of whoever is not signed in are one', 1, [api('/api/a', 401), api('/api/b', 401)]],
    ['answers of a server that gives no reason are one', 1, [api('/api/a', 500), api('/api/b', 500)]],
    ['two exceptions are two', 2, [thrownIn('cart.ts'), thrownIn('list.ts')]],
    ['an exception and an answer with no reason are one', 1, [thrownIn('cart.ts'), api('/api/b', 500)]],
    [
      'a failure that shows no cause belongs to the first',
      2,
      [api('/api/a', 404), api('/api/b', 404), failed('odd')],
    ],
    [
      'one that shows none, met first, does not join the others',
      2,
      [failed('odd'), api('/api/a', 404), api('/api/b', 404)],
    ],
  ])('HL-6 of one signature, %s', (_, causes, failures) => {
    expect(groupCauses(failures.map(alike))).toHaveLength(causes);
  });

  const undefinedTotal = "TypeError: Cannot read properties of undefined (reading 'total')";
  it.each<[string, DiagnosedFailure[]]>([
    [
      'the same exception of the page at the same line',
      [
        failed(clickOn("locator('#a')"), thrown(undefinedTotal)),
        failed(clickOn("locator('#b')"), thrown(undefinedTotal)),
      ],
    ],
    [
      'the same endpoint with the same status',
      [failed(clickOn("locator('#a')"), answered({})), failed(clickOn("locator('#b')"), answered({}))],
    ],
    [
      'the same endpoint with different queries and ids',
      [
        failed(clickOn("locator('#a')"), answered({ url: 'http://localhost:3000/api/orders/17?page=1' })),
        failed(clickOn("locator('#b')"), answered({ url: 'http://localhost:3000/api/orders/18' })),
      ],
    ],
    [
      'the same database error in a response and in the server’s output',
      [
        failed(
          clickOn("locator('#a')"),
          answered({ responseBody: '{"message":"relation \\"orders\\" does not exist"}' }),
        ),
        failed(clickOn("locator('#b')"), { serverOutput: 'error: relation "orders" does not exist' }),
      ],
    ],
    [
      'the same line of a build’s output',
      [
        failed(clickOn("locator('#a')"), { serverOutput: 'a.ts(1,2): error TS2322: no' }),
        failed('Error: no page', { serverOutput: 'a.ts(1,2): error TS2322: no' }),
      ],
    ],
    [
      'the same line that does not compile, as reported by the bundler and by the browser',
      [
        failed(clickOn("locator('#a')"), {
          serverOutput: 'Failed to resolve import "./price" from "src/cart.ts"\nsrc/cart.ts:1:20',
        }),
        failed(clickOn("locator('#b')"), thrown("SyntaxError: Unexpected token '}'", 'src/cart.ts:1:2')),
      ],
    ],
    [
      'a blank page, whatever each test looked for first',
      ['#a', '#b'].map((id) => failed(clickOn(`locator('${id}')`), { ariaSnapshot: '' })),
    ],
    [
      'the same locator with the same complaint',
      [failed(clickOn("locator('#a')")), failed(`Error: in the header\n${clickOn("locator('#a')")}`)],
    ],
    [
      'the same line with different columns',
      [
        failed(clickOn("locator('#a')"), thrown(undefinedTotal, 'http://localhost:3000/src/cart.ts:12:5')),
        failed(clickOn("locator('#b')"), thrown(undefinedTotal, 'http://localhost:3000/src/cart.ts:12:31')),
      ],
    ],
    [
      'the same exception, which has no place in one of them',
      [
        failed(clickOn("locator('#a')"), thrown(undefinedTotal, null)),
        failed(clickOn("locator('#b')"), thrown(undefinedTotal)),
      ],
    ],
    [
      'the same function with different lines',
      [
        failed(clickOn("locator('#a')"), thrown(undefinedTotal, 'src/cart.ts:12:5')),
        failed(clickOn("locator('#b')"), thrown(undefinedTotal, 'src/cart.ts:14:5')),
      ],
    ],
    [
      'the same locator, clicked in one test and read in another',
      [
        failed(clickOn("locator('#a')")),
        failed(
          "Error: expect(locator).toHaveText(expected) failed\n\nLocator: locator('#a')\nExpected: 'x'\nError: element(s) not found",
        ),
      ],
    ],
    [
      'the same overlay over different elements',
      ["locator('#a')", "locator('#b')"].map((one) =>
        failed(`${clickOn(one)}\n    - <div id="veil" class="show">${one}</div> intercepts pointer events`),
      ),
    ],
    [
      'the same endpoint with different symptoms',
      [
        failed(clickOn("locator('#a')"), answered({})),
        failed('Error: page.waitForURL: Timeout 500ms exceeded.', answered({})),
      ],
    ],
    [
      'the same exception of the server behind different pages',
      ['/api/orders', '/api/carts'].map((path) =>
        failed(clickOn(`locator('${path}')`), {
          ...answered({ url: `http://localhost:3000${path}` }),
          serverOutput: `${undefinedTotal}\n    at load (/project/server/db.js:${path.length}:7)`,
        }),
      ),
    ],
    [
      'the same exception of the page behind exceptions of the tests',
      ['options', 'navigate'].map((name) =>
        failed(
          `Error: page.evaluate: TypeError: Cannot read properties of undefined (reading '${name}')`,
          thrown('ReferenceError: Swop is not defined'),
        ),
      ),
    ],
    [
      'the same dead server',
      [
        failed('Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/a'),
        failed('Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/b'),
      ],
    ],
    [
      'the same failed request, whose answer only one page could read',
      [
        failed(clickOn("locator('#a')"), answered({ responseBody: missingColumn('label') })),
        failed(clickOn("locator('#b')"), answered({})),
      ],
    ],
  ])('HL-6 joins %s', (_, failures) => {
    expect(sizes(failures)).toEqual([2]);
  });

  it('HL-6 joins an exception that a log prints with its name and without', () => {
    const said = ['x is not defined', 'ReferenceError: x is not defined'];
    expect(sizes(said.map((one) => failed(clickOn(one), thrown(one))))).toEqual([2]);
  });

  it('HL-6 leaves a failed request without a reason alone if it has several', () => {
    const failures = [
      failed(clickOn("locator('#a')"), answered({ responseBody: missingColumn('label') })),
      failed(clickOn("locator('#b')"), answered({})),
      failed(clickOn("locator('#c')"), answered({ responseBody: missingColumn('vat') })),
    ];
    expect(sizes(failures)).toEqual([1, 1, 1]);
  });

  it('HL-6 leaves an exception without a place alone if several places have it', () => {
    const [cart, list] = [undefined, 'http://localhost:3000/src/list.ts:3:1'];
    const failures = [
      failed(clickOn("locator('#a')"), thrown(undefinedTotal, cart)),
      failed(clickOn("locator('#b')"), thrown(undefinedTotal, null)),
      failed(clickOn("locator('#c')"), thrown(undefinedTotal, list)),
    ];
    expect(sizes(failures)).toEqual([1, 1, 1]);
  });

  it.each<[string, DiagnosedFailure[]]>([
    [
      'the same exception at different lines',
      [
        failed(clickOn("locator('#a')"), thrown(undefinedTotal)),
        failed(clickOn("locator('#b')"), thrown(undefinedTotal, 'http://localhost:3000/src/list.ts:3:1')),
      ],
    ],
    [
      'the same locator with different values',
      ['a', 'b'].map((value) =>
        failed(
          `Error: expect(locator).toHaveText(expected) failed\n\nLocator: locator('h1')\nExpected: "${value}"\nReceived: "x"`,
        ),
      ),
    ],
    [
      'a hung click and a hung fill',
      [
        failed(clickOn("locator('#a')").replace('Timeout', 'Test timeout of')),
        failed(clickOn("locator('#b')").replace('click', 'fill')),
      ],
    ],
    [
      'different endpoints',
      [
        failed(clickOn("locator('#a')"), answered({})),
        failed(clickOn("locator('#a')"), answered({ url: 'http://localhost:3000/api/carts' })),
      ],
    ],
    [
      'different statuses',
      [
        failed(clickOn("locator('#a')"), answered({})),
        failed(clickOn("locator('#a')"), answered({ status: 404 })),
      ],
    ],
    [
      'different methods',
      [
        failed(clickOn("locator('#a')"), answered({})),
        failed(clickOn("locator('#a')"), answered({ method: 'GET' })),
      ],
    ],
    [
      'different lines that do not compile',
      [1, 9].map((line) =>
        failed(clickOn(`locator('#${line}')`), {
          serverOutput: `src/cart.ts:${line}:2 - error TS2304: Cannot find name 'a${line}'.`,
        }),
      ),
    ],
    [
      'different locators on a page without a snapshot',
      ['#a', '#b'].map((id) => failed(clickOn(`locator('${id}')`), { ariaSnapshot: null })),
    ],
    ['different locators', [failed(clickOn("locator('#a')")), failed(clickOn("locator('#b')"))]],
    [
      'different complaints',
      [
        failed(clickOn("locator('#a')")),
        failed("Error: strict mode violation: locator('#a') resolved to 2 elements"),
      ],
    ],
    [
      'different tables',
      [failed('error: relation "orders" does not exist'), failed('error: relation "carts" does not exist')],
    ],
    ['two unknown failures', [failed('Error: odd'), failed('Error: odder')]],
    [
      'different dead servers',
      [
        failed('Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/a'),
        failed('Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:4000/a'),
      ],
    ],
  ])('HL-6 keeps apart %s', (_, failures) => {
    expect(sizes(failures)).toEqual([1, 1]);
  });

  it('HL-6 joins two groups if a failure belongs to both', () => {
    const one = failed(clickOn("locator('#a')"), answered({}));
    const other = failed('Error: odd');
    const between = { ...failed(clickOn("locator('#b')"), answered({})), signature: other.signature };
    const [cause] = groupCauses([one, other, between]);
    expect(cause?.members).toEqual([one, other, between]);
  });

  it('HL-6 leads with the failure of the highest confidence, the first of equal ones', () => {
    const sure = (id: string, confidence: number) => {
      const base = failing(id, 'x');
      return { ...base, diagnosis: { ...base.diagnosis, confidence } };
    };
    const [cause] = groupCauses([sure('a', 0.7), sure('b', 0.9), sure('c', 0.9)]);
    expect(cause?.lead.rerunIds).toEqual(['b']);
  });
});

describe('HL-7 many tests on one dead server', () => {
  const refusedAt = (path: string, over: Partial<Evidence> = {}) =>
    failed(`Error: page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:3000${path}`, over);

  it('HL-7 are one failure of the environment, described in a sentence', () => {
    const causes = groupCauses(['/a', '/b', '/c'].map((path) => refusedAt(path)));
    expect(causes.map(({ environment }) => environment)).toEqual([
      'http://127.0.0.1:3000 refuses connections: 3 tests failed the same way, and the evidence does not say why',
    ]);
  });

  it('HL-7 are one failure of the environment, too, if their pages could not reach the server', () => {
    const refused = answered({
      status: null,
      failure: 'net::ERR_CONNECTION_REFUSED',
      url: 'http://localhost:8080/api/cart',
    });
    const [cause] = groupCauses(['#a', '#b', '#c'].map((id) => failed(clickOn(`locator('${id}')`), refused)));
    expect(cause?.environment).toMatch(/^http:\/\/localhost:8080 refuses connections: 3 tests/);
  });

  it('HL-7 are an ordinary cause if there are only two', () => {
    expect(groupCauses([refusedAt('/a'), refusedAt('/b')]).map(({ environment }) => environment)).toEqual([
      null,
    ]);
  });

  it('HL-7 are an ordinary cause if the server’s last output says why', () => {
    const serverOutput =
      "/project/server.js:3\nTypeError: Cannot read properties of undefined (reading 'port')";
    const causes = groupCauses(['/a', '/b', '/c'].map((path) => refusedAt(path, { serverOutput })));
    expect(causes.map(({ members, environment }) => [members.length, environment])).toEqual([[3, null]]);
  });
});

it('HL-7 CL-2 a browser that is not installed is a failure of the environment, whatever else fails', () => {
  const missing = (browser: string) =>
    failed(`Error: browserType.launch: Executable doesn't exist at /home/me/.cache/ms-playwright/${browser}`);
  const causes = groupCauses([
    missing('webkit-2248/pw_run.sh'),
    failed('Error: odd'),
    missing('firefox-1511/firefox'),
  ]);
  expect(causes.map(({ environment }) => environment)).toEqual([
    expect.stringContaining('`playwright install`'),
    null,
    expect.stringContaining('`playwright install`'),
  ]);
});

it('HL-6 the same test of several projects that fails at the same line in the same way is one cause', () => {
  const at = (line: number) => ({ location: { file: '/project/tests/a.spec.ts', line, column: 3 } });
  const inProject = (project: string, title: string, line: number) => {
    const message = `Error: expect(locator).toHaveClass(expected) failed\n\nLocator:  getByText('note of ${project}')\nExpected: "archived"\nReceived: ""`;
    const evidence = { errors: [anError(message, at(line))] };
    const test = aTest(`${project}-${title}`, { project, titlePath: ['a.spec.ts', title] });
    return { ...failed(message, evidence), failure: aTestFailure({ test, errors: evidence.errors }) };
  };
  expect(sizes([inProject('ada', 'is archived', 9), inProject('bea', 'is archived', 9)])).toEqual([2]);
  expect(sizes([inProject('ada', 'is archived', 9), inProject('bea', 'is archived', 12)])).toEqual([1, 1]);
  expect(sizes([inProject('ada', 'is archived', 9), inProject('bea', 'is deleted', 9)])).toEqual([1, 1]);
  const alike = (title: string) => ({ ...inProject('ada', title, 9), signature: 'shop:Error:alike' });
  expect(sizes([alike('is archived'), alike('is deleted')])).toEqual([2]);
});
