import { describe, expect, it } from 'vitest';
import type { DiagnosedFailure } from '../../../src/model/cause.js';
import { classify } from '../../../src/diagnose/classify.js';
import type { Evidence, NetworkEntry } from '../../../src/model/evidence.js';
import { explainEnvironment } from '../../../src/diagnose/group-keys.js';
import { groupIntoCauses } from '../../../src/diagnose/group.js';
import { aSuiteFailure, aTest, aTestFailure, anError, anEvidence, failing } from '../../rig/builders.js';
import { jsonLines } from '../../rig/json-lines.js';
import { logged, request } from './classify-evidence.js';

const origin = 'http://localhost:3000';
let count = 0;

/** A failure as the classifier sees it, with a signature of its own. */
function failed(message: string, over: Partial<Evidence> = {}): DiagnosedFailure {
  const id = `t${(count += 1)}`;
  const evidence = anEvidence({ errors: [anError(message)], pageUrl: `${origin}/cart`, ...over });
  const failure = aTestFailure({ test: aTest(id), errors: evidence.errors });
  return { n: count, failure, evidence, diagnosis: classify(evidence), signature: id, rerunIds: [id] };
}

/** A failed click on `#id`. */
const click = (id: string, over: Partial<Evidence> = {}) =>
  failed(
    `TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - waiting for locator('#${id}')`,
    over,
  );
const total = "TypeError: Cannot read properties of undefined (reading 'total')";
/** An exception of the page, thrown at a place. */
const thrown = (at: string | null = '/src/cart.ts:12:5', text = total): Partial<Evidence> => {
  const stack = at === null ? null : `${text}\n    at sum (${origin}${at})`;
  return { console: [logged(text, { type: 'pageerror', stack })] };
};
/** A failed request of the page, to /api/orders if nothing else is said. */
const asked = (over: Partial<NetworkEntry> = {}, path = '/api/orders'): Partial<Evidence> => ({
  network: [request({ url: origin + path, ...over })],
});
const column = (name: string) => asked({ responseBody: `{"error":"column orders.${name} does not exist"}` });
const server = (serverOutput: string): Partial<Evidence> => ({ serverOutput });
const refused = (at: string, over: Partial<Evidence> = {}) =>
  failed(`Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:${at}`, over);
const text = (id: string, value: string) =>
  failed(
    `Error: expect(locator).toHaveText(expected) failed\n\nLocator: locator('#${id}')\nExpected: "${value}"\nReceived: "x"`,
  );
const missingText = (id: string) =>
  failed(
    `Error: expect(locator).toHaveText(expected) failed\n\nLocator: locator('#${id}')\nExpected: 'x'\nError: element(s) not found`,
  );
const covered = (id: string) =>
  failed(
    `TimeoutError: locator.click: Timeout 500ms exceeded.\nCall log:\n  - waiting for locator('#${id}')\n    - <div id="veil">${id}</div> intercepts pointer events`,
  );

/** A failure on the last of these pages; all before it redirected. */
const redirected = (pages: readonly string[], over: Partial<NetworkEntry> = {}) => {
  const network = pages.map((path, n) =>
    request({
      url: origin + path,
      method: 'GET',
      resourceType: 'document',
      status: n < pages.length - 1 ? 302 : 200,
      ...over,
    }),
  );
  return click(`r${count}`, { network, pageUrl: `${origin}${pages.at(-1)}#top` });
};
const called = (path: string, status: number) => click(path, asked({ method: 'GET', status }, path));

const causes = (failures: DiagnosedFailure[]) =>
  groupIntoCauses(failures).map(({ members }) => members.length);

it.each<[string, DiagnosedFailure[]]>([
  ['the same exception of the page at one line', [click('a', thrown()), click('b', thrown())]],
  ['at other columns of it', [click('a', thrown()), click('b', thrown('/src/cart.ts:12:31'))]],
  ['at other lines of one function', [click('a', thrown()), click('b', thrown('/src/cart.ts:14:5'))]],
  [
    'the same exception of a Python server at other lines of one function',
    [8, 9].map((line) => {
      const frame = (at: number, name: string) =>
        `  File "/project/store/views.py", line ${at}, in ${name}\n    x\n`;
      const traceback = `Traceback (most recent call last):\n${frame(7, 'orders')}${frame(line, '<listcomp>')}`;
      return click(`a${line}`, server(`${traceback}AttributeError: 'Order' object has no attribute 'day'\n`));
    }),
  ],
  ['the same endpoint with the same status', [click('a', asked()), click('b', asked())]],
  [
    'the same endpoint with different queries and ids',
    [click('a', asked({}, '/api/orders/17?page=1')), click('b', asked({}, '/api/orders/18'))],
  ],
  [
    'the same database error in a response and in the server’s output',
    [
      click('a', asked({ responseBody: '{"message":"relation \\"orders\\" does not exist"}' })),
      click('b', server('error: relation "orders" does not exist')),
    ],
  ],
  [
    'the same exception of the server behind different pages',
    ['/api/orders', '/api/carts'].map((path) =>
      click(path, {
        ...asked({}, path),
        ...server(`${total}\n    at load (/project/server/db.js:${path.length}:7)`),
      }),
    ),
  ],
  [
    'the same line that does not compile, as reported by the bundler and by the browser',
    [
      click('a', server('Failed to resolve import "./price" from "src/cart.ts"\nsrc/cart.ts:1:20')),
      click('b', thrown('/src/cart.ts:1:2', "SyntaxError: Unexpected token '}'")),
    ],
  ],
  ['a blank page', [click('a', { ariaSnapshot: '' }), click('b', { ariaSnapshot: '' })]],
  ['the same locator, clicked in one test and read in another', [click('a'), missingText('a')]],
  ['the same overlay over different elements', [covered('a'), covered('b')]],
  ['the same dead server', [refused('3000/a'), refused('3000/b')]],
  [
    'different pages redirected to the same one',
    [redirected(['/orders', '/login?next=/orders']), redirected(['/', '/auth', '/login?next=/'])],
  ],
  [
    'also with two tests that asked for the same page',
    [redirected(['/', '/login']), redirected(['/', '/login']), redirected(['/orders', '/login'])],
  ],
  ['different calls that are refused without a session', [called('/api/a', 401), called('/api/b', 401)]],
])('HL-6 joins failures with %s', (_, failures) => {
  expect(causes(failures)).toEqual([failures.length]);
});

it.each<[string, DiagnosedFailure[]]>([
  ['the same exception in different files', [click('a', thrown()), click('b', thrown('/src/list.ts:3:1'))]],
  [
    'an exception without a place, which several places have',
    [click('a', thrown()), click('b', thrown(null)), click('c', thrown('/src/list.ts:3:1'))],
  ],
  ['different endpoints', [click('a', asked()), click('a', asked({}, '/api/carts'))]],
  ['different statuses', [click('a', asked()), click('a', asked({ status: 404 }))]],
  [
    'different tables',
    [failed('error: relation "orders" does not exist'), failed('error: relation "carts" does not exist')],
  ],
  ['different locators', [click('a'), click('b')]],
  ['the same locator with different values', [text('a', 'one'), text('a', 'two')]],
  ['two unknown failures', [failed('Error: odd'), failed('Error: odder')]],
  ['different dead servers', [refused('3000/a'), refused('4000/a')]],
  ['a start page that redirects', [redirected(['/', '/home']), redirected(['/?lang=en', '/home'])]],
  ['redirects to different pages', [redirected(['/a', '/en/a']), redirected(['/b', '/en/b'])]],
  ['pages that tests have left', [leftAfterLogin('/a'), leftAfterLogin('/b')]],
  ['calls that are forbidden', [called('/api/a', 403), called('/api/b', 403)]],
])('HL-6 keeps apart failures with %s', (_, failures) => {
  expect(causes(failures)).toEqual(failures.map(() => 1));
});

function leftAfterLogin(path: string): DiagnosedFailure {
  const { network } = redirected([path, '/login']).evidence;
  const givenUp = request({
    url: `${origin}${path}/1`,
    method: 'GET',
    resourceType: 'document',
    status: 200,
  });
  return click(path, { network: [...network, givenUp], pageUrl: givenUp.url });
}

describe('HL-6 failures of one signature', () => {
  const alike = (failure: DiagnosedFailure) => ({ ...failure, signature: 'shop:Error:alike' });
  const answered = (path: string, status: number, over: Partial<Evidence> = {}) =>
    failed(
      `Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 200\nReceived: ${status}`,
      { ...asked({ resourceType: 'api', status }, path), ...over },
    );
  const thrownIn = (file: string) => answered('/api/orders', 500, thrown(`/src/${file}:3:5`, 'TypeError: x'));
  it.each<[string, number, DiagnosedFailure[]]>([
    ['two missing endpoints are two causes', 2, [answered('/a', 404), answered('/b', 404)]],
    ['refusals without a session are one cause', 1, [answered('/a', 401), answered('/b', 401)]],
    ['server errors without a reason are one cause', 1, [answered('/a', 500), answered('/b', 500)]],
    ['two exceptions are two causes', 2, [thrownIn('cart.ts'), thrownIn('list.ts')]],
    [
      'an exception and a server error without a reason are one',
      1,
      [thrownIn('cart.ts'), answered('/b', 500)],
    ],
    ['failures of which only one has the reason are one cause', 1, [click('a', column('total')), click('a')]],
    [
      'a failure without a reason belongs to the first cause',
      2,
      [answered('/a', 404), answered('/b', 404), failed('odd')],
    ],
  ])('HL-6 of one signature, %s', (_, expected, failures) => {
    expect(groupIntoCauses(failures.map(alike))).toHaveLength(expected);
  });
});

it('HL-6 causes are numbered by first appearance, and led by the first of the surest failures', () => {
  const sure = (id: string, wrong: string, confidence: number) => {
    const base = failing(id, wrong);
    return { ...base, diagnosis: { ...base.diagnosis, confidence } };
  };
  const causes = groupIntoCauses([
    sure('a', 'x', 0.7),
    sure('b', 'y', 0.7),
    sure('c', 'x', 0.9),
    sure('d', 'x', 0.9),
  ]);
  expect(causes.map(({ id, members, lead }) => [id, members.length, lead.rerunIds[0]])).toEqual([
    ['c1', 3, 'c'],
    ['c2', 1, 'b'],
  ]);
});

describe('HL-6 a server that stops responding', () => {
  const silent = 'no answer until the test ended';
  const page = (time: number, status: number | null, path = '/') =>
    request({
      url: origin + path,
      method: 'GET',
      resourceType: 'document',
      time,
      status,
      failure: status === null ? silent : null,
    });
  const call = (time: number, status: number | null = null) =>
    request({
      url: `${origin}/api/export`,
      method: 'GET',
      time,
      status,
      failure: status === null ? silent : null,
    });
  const about = () =>
    failed('TimeoutError: page.goto: Timeout 5000ms exceeded.', { network: [page(30, null, '/about')] });

  it('HL-6 is one cause, led by the test in which it began, no matter what others find later', () => {
    const [later, first, last] = [about(), click('a', { network: [page(10, 200), call(20)] }), about()];
    expect(groupIntoCauses([later, first, last]).map(({ lead, members }) => [lead, members.length])).toEqual([
      [first, 3],
    ]);
  });

  it('HL-6 is not assumed if a call waits while the server answers others', () => {
    const waits = click('a', { network: [page(10, 200), call(20), page(25, 200)] });
    expect(groupIntoCauses([waits, about()])).toHaveLength(2);
  });

  it('HL-6 CS-7 decides before the connections that broke with it', () => {
    const reset = { network: [request({ status: null, failure: 'net::ERR_EMPTY_RESPONSE' })] };
    const dies = server('FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory');
    const [first, other] = [click('a', { ...reset, ...dies }), refused('3000/', dies)];
    expect(first.diagnosis.why[0]?.source).toBe('server');
    expect(groupIntoCauses([first, other])).toHaveLength(1);
  });
});

it('HL-6 a test that fails alike at the same line in several projects is one cause', () => {
  const inProject = (project: string, title: string, line: number) => {
    const message = `Error: expect(locator).toHaveClass(expected) failed\n\nLocator:  getByText('note of ${project}')\nExpected: "archived"\nReceived: ""`;
    const errors = [anError(message, { location: { file: '/project/tests/a.spec.ts', line, column: 3 } })];
    const test = aTest(`${project}-${title}`, { project, titlePath: ['a.spec.ts', title] });
    return { ...failed(message, { errors }), failure: aTestFailure({ test, errors }) };
  };
  expect(causes([inProject('ada', 'is archived', 9), inProject('bea', 'is archived', 9)])).toEqual([2]);
  expect(causes([inProject('ada', 'is archived', 9), inProject('bea', 'is archived', 12)])).toEqual([1, 1]);
  expect(causes([inProject('ada', 'is archived', 9), inProject('bea', 'is deleted', 9)])).toEqual([1, 1]);
});

it.each<[string, DiagnosedFailure[], RegExp | null]>([
  [
    'if three tests need it',
    ['a', 'b', 'c'].map((path) => refused(`3000/${path}`)),
    /^http:\/\/localhost:3000 refuses connections: 3 tests/,
  ],
  ['not if two tests need it', [refused('3000/a'), refused('3000/b')], null],
  [
    'not if the server’s last output says why',
    ['a', 'b', 'c'].map((path) => refused(`3000/${path}`, server(`/project/server.js:3\n${total}`))),
    null,
  ],
])('HL-7 a dead server is one environment failure: %s', (_, failures, environment) => {
  const causes = groupIntoCauses(failures);
  expect(causes).toHaveLength(1);
  if (environment) expect(causes[0]?.environment).toMatch(environment);
  else expect(causes[0]?.environment).toBeNull();
});

it('HL-7 CL-2 a missing browser is an environment failure, even beside other failures', () => {
  const missing = (browser: string) =>
    failed(`Error: browserType.launch: Executable doesn't exist at /home/me/.cache/ms-playwright/${browser}`);
  const causes = groupIntoCauses([
    missing('webkit-2248/pw_run.sh'),
    failed('Error: odd'),
    missing('firefox-1511/f'),
  ]);
  const install = expect.stringContaining('`playwright install`') as string;
  expect(causes.map(({ environment }) => environment)).toEqual([install, null, install]);
});

const diagnosed = (over: Partial<Evidence>) => {
  const evidence = anEvidence(over);
  return { ...failing('t1'), evidence, diagnosis: classify(evidence) };
};

it('HL-7 a test that is marked to fail but passes gets no agent', () => {
  const passed = { ...failing('t1'), failure: aTestFailure({ status: 'passed' }) };
  expect(explainEnvironment([passed])).toContain('remove its `test.fail`');
  expect(explainEnvironment([passed, failing('t2')])).toBeNull();
});

it('HL-7 a test without its snapshot gets no agent, which would accept any current output', () => {
  const message = "Error: A snapshot doesn't exist at /shop/tests/cart.spec.ts-snapshots/cart-linux.png.";
  const without = diagnosed({ errors: [anError(message)] });
  expect(explainEnvironment([without])).toContain('run `playwright test` once');
  expect(explainEnvironment([without, failing('t2')])).toBeNull();
});

/** A suite that did not start, what its server printed, and a part of what a person is told; null if an agent may help. */
interface Stopped {
  readonly message: string;
  readonly serverOutput: string;
  readonly advice: string | null;
}

it.each(jsonLines<Stopped>(import.meta.dirname, 'machine.jsonl'))(
  'HL-7 CS-11 a failure that no code change can fix gets no agent: $message $serverOutput',
  ({ message, serverOutput, advice }) => {
    const stopped = { ...diagnosed({ errors: [anError(message)], serverOutput }), failure: aSuiteFailure() };
    expect(explainEnvironment([stopped])).toEqual(advice === null ? null : expect.stringContaining(advice));
    if (advice !== null && serverOutput !== '') expect(stopped.diagnosis.retry).toBe('env_error');
    expect(explainEnvironment([{ ...stopped, machine: null }])).toBeNull();
  },
);

it('HL-6 one fault that a log names with several requests is one cause', () => {
  const logs = ['/teams', '/bills'].map(
    (path) => `[error] GET ${path} TypeError: user.plan.name is not a function`,
  );
  const broken = { network: [request({ method: 'GET' })] };
  expect(causes(logs.map((serverOutput, n) => failed(`Error: ${n}`, { serverOutput, ...broken })))).toEqual([
    2,
  ]);
});

it('HL-6 tests that find the same error instead of a page have one cause', () => {
  const ariaSnapshot = '- heading "This page could not be shown"\n- paragraph: Unexpected token';
  const missing = (id: string) =>
    failed(
      `Error: expect(locator).toBeVisible() failed\n\nLocator: locator('#${id}')\nError: element(s) not found`,
      { ariaSnapshot },
    );
  expect(causes([missing('a'), missing('b')])).toEqual([2]);
});
