import { explainOtherLoopback } from '../../../src/diagnose/other-loopback.js';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { classify, createClassify, unknownWarning } from '../../../src/diagnose/classify.js';
import { type ProjectRule, noProjectRules } from '../../../src/diagnose/rule.js';
import { rules } from '../../../src/diagnose/rules.js';
import type { Category, Facts, RetryAxis } from '../../../src/model/diagnosis.js';
import { stabilizeTimeoutErrors } from '../../../src/playwright/timeout-errors.js';
import type { Evidence, NetworkEntry } from '../../../src/model/evidence.js';
import { parseGraphQlErrors, findGraphQlFailure } from '../../../src/diagnose/graphql-errors.js';
import { describeFailure } from '../../../src/diagnose/headline.js';
import { createFailureShape, readJsonLines } from '../../../src/evidence/classify-input.js';
import { aDiagnosed, anError, anEvidence } from '../../rig/builders.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

/** A failure in the form that `self-heal classify --jsonl` reads, with what is right. */
interface Recorded {
  readonly id: string;
  readonly category: Category;
  /** `code_error` by default. */
  readonly retry?: RetryAxis;
  readonly alternatives?: readonly Category[];
  /** The deciding line, if it is not the whole error. */
  readonly said?: string;
  /** The line of the user's own code. */
  readonly place?: string;
  /** The other facts, where the record is about them. */
  readonly facts?: Partial<Facts>;
  /** The failing line of the test, and the line that heads its cause. */
  readonly at?: number;
  readonly headline?: string;
}

const text = readFileSync(path.join(import.meta.dirname, 'recorded-failures.jsonl'), 'utf8');
const read = readJsonLines(text, createFailureShape('/project'), 'an error');
const records = text
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);
const recorded = (read.ok ? read.value : []).flatMap(({ evidence }, at) => {
  const record = records[at];
  return record ? [{ record, evidence }] : [];
});

it('CS-8 a line that is both in the server’s log and on its error page is one reason', () => {
  const line = "TypeError: Cannot read properties of undefined (reading 'city')";
  const body = `<html><body><pre>${line}<br>   at profile (/app/users.js:2:120)</pre></body></html>`;
  const failed = request({ responseBody: body, responseHeaders: { 'content-type': 'text/html' } });
  const { why } = classify(failing('boom', { network: [failed], serverOutput: line }));
  expect(why[0]).toMatchObject({ source: 'server', evidence: line });
  expect(new Set(why.map((reason) => JSON.stringify(reason))).size).toBe(why.length);
});

describe('recorded failures', () => {
  it.each(recorded.map((entry) => [entry.record.id, entry] as const))(
    'CS-1 CS-2 CS-3 CS-4 CS-5 CS-7 CS-8 CS-10 CS-11 EV-5 EV-6 RP-1 %s',
    (_, { record, evidence: given }) => {
      const { category, retry, alternatives, why, facts } = classify(given);
      const { retry: axis = 'code_error', said = why[0]?.evidence, place = null } = record;
      expect({ category, retry, alternatives, said: why[0]?.evidence, place: facts.source }).toEqual({
        category: record.category,
        retry: axis,
        alternatives: record.alternatives ?? [],
        said,
        place,
      });
      if (record.facts) expect(facts).toMatchObject(record.facts);
      if (record.headline !== undefined) expect(headline(given, record.at)).toBe(record.headline);
    },
  );

  it('CS-9 each rule decides at least one of them', () => {
    const deciding = new Set(recorded.map((entry) => classify(entry.evidence).why[0]?.rule));
    expect(rules.map(({ id }) => id).filter((id) => !deciding.has(id))).toEqual([]);
  });

  it('CS-8 list their strongest reasons first, within the length of a line', () => {
    for (const { evidence: given } of recorded) {
      const { why, confidence } = classify(given);
      const sure = why.map((reason) => reason.confidence);
      // What the server said comes first, for it is why the request failed.
      if (why[0]?.source !== 'server') expect(sure).toEqual(sure.toSorted((a, b) => b - a));
      expect(confidence).toBe(sure[0] ?? 0);
      expect(Math.max(0, ...why.map((reason) => reason.evidence.length))).toBeLessThanOrEqual(301);
    }
  });
});

/** The line that heads the cause of a failure at a line of its test. */
function headline(given: Evidence, line = 1): string {
  const location = { file: '/project/tests/a.spec.ts', line, column: 3 };
  const evidence = { ...given, errors: given.errors.map((error) => ({ ...error, location })) };
  return describeFailure(aDiagnosed({ evidence, diagnosis: classify(evidence) }));
}

it('CS-6 warns of an unknown failure with the required words', () => {
  expect(unknownWarning).toBe('Error type unknown, using default agent');
  expect(classify(failing('Error: something odd'))).toMatchObject({
    category: 'unknown',
    warning: unknownWarning,
    why: [],
    alternatives: [],
  });
  expect(classify(failing(locatorTimeout)).warning).toBeNull();
});

it.each([
  ['GitHub Actions', '2024-03-05T10:11:12.1234567Z '],
  ['a clock', '[10:11:12] '],
  ['Playwright for a server', '[WebServer] '],
  ['Playwright for its own calls', '  pw:api '],
  ['a task runner', '@shop/web:test: '],
  ['Next for an error', '⨯ '],
  ['PHP in an error log', '[24-Nov-2026 00:00:21 UTC] '],
])('CS-1 ignores the prefix that %s puts before each line of a log', (_, prefix) => {
  for (const [line, category] of [
    ['- rendered on server: <!---->\n- expected on client: div', 'runtime-error'],
    ["    Locator: locator('#sum')\n    Expected: visible\n    Error: element(s) not found", 'ui-error'],
    ['  - navigating to "http://localhost:3000/", waiting until "load"', 'network-error'],
    ['FATAL:  the schema is locked', 'database-error'],
    ["Unexpected identifier 'cart'", 'build-error'],
  ] as const) {
    const passedOn = line.replace(/^/gm, prefix);
    expect([passedOn, classify(failing(passedOn)).category]).toEqual([passedOn, category]);
  }
});

describe('evidence that green tests nearby share', () => {
  const assertion =
    "Error: expect(locator).toBeVisible() failed\n\nLocator: getByText('Total')\nExpected: visible\nError: element(s) not found";
  const serverOutput = 'error: column "vat" of relation "orders" does not exist';
  const ofOthers = [serverOutput];
  const own = request({ method: 'GET', resourceType: 'document', status: 200 });
  const common = (over: Partial<NetworkEntry> = {}) => ({ ...request(over), common: true });
  const open = common({ status: null, failure: 'no answer until the test ended' });
  const script = common({ url: 'http://localhost:3000/calendar.js', resourceType: 'script', status: 404 });
  const thrown = logged('ReferenceError: Calendar is not defined', { type: 'pageerror' });
  it.each<[string, Category, Partial<Evidence>]>([
    [
      'a response decides if the server says why',
      'database-error',
      { serverOutput, network: [own, common()] },
    ],
    [
      'a response decides if its body says why',
      'database-error',
      { network: [own, common({ responseBody: serverOutput })] },
    ],
    ['a response of 500 comes before a bare assertion', 'network-error', { network: [own, common()] }],
    [
      'a refusal decides nothing',
      'ui-error',
      { serverOutput, ofOthers, network: [own, common({ status: 404 })] },
    ],
    ['a call without a response decides nothing', 'ui-error', { serverOutput, ofOthers, network: [open] }],
    ['an unloaded script explains nothing', 'runtime-error', { network: [script], console: [thrown] }],
    [
      'an exception comes before a bare assertion',
      'runtime-error',
      { console: [{ ...thrown, common: true }] },
    ],
  ])('CS-7 %s', (_, category, over) => {
    expect(classify(failing(assertion, over)).category).toBe(category);
  });

  it('CS-7 an action that found no element explains the failure itself', () => {
    const { category } = classify(failing(locatorTimeout, { console: [{ ...thrown, common: true }] }));
    expect(category).toBe('ui-error');
  });

  const ofProvider = { url: 'https://js.pay.example/v3/', status: null };
  const lost = common({
    ...ofProvider,
    method: 'GET',
    resourceType: 'script',
    failure: 'net::ERR_NAME_NOT_RESOLVED',
  });
  const unable = { ariaSnapshot: '- paragraph: We have issues connecting to our payments provider.' };
  it.each<[string, NetworkEntry]>([
    ['script', lost],
    ['call', { ...lost, resourceType: 'fetch' }],
  ])('CS-7 HL-7 a %s of an unreachable host is a machine problem if the page says so', (_, entry) => {
    const { category, retry, advice } = classify(failing(assertion, { network: [own, entry], ...unable }));
    expect({ category, retry }).toEqual({ category: 'network-error', retry: 'env_error' });
    expect(advice).toContain('js.pay.example');
  });

  const fetched = logged('TypeError: Failed to fetch', { type: 'pageerror' });
  it.each<[string, Partial<Evidence>]>([
    ['that passing tests lack, too', { network: [own, { ...lost, resourceType: 'fetch' }] }],
    [
      'with its exception',
      { network: [own, { ...lost, resourceType: 'fetch' }], console: [{ ...fetched, common: true }] },
    ],
    [
      'with no passing test to compare with',
      { network: [own, request({ ...ofProvider, failure: lost.failure })], console: [fetched] },
    ],
  ])('CS-7 HL-7 an unreachable host %s is not decisive by itself', (_, over) => {
    expect(classify(failing(assertion, { ...over, ariaSnapshot: '- heading "Cart"' }))).toMatchObject({
      category: 'ui-error',
      retry: 'code_error',
    });
  });

  it('CS-7 HL-7 an unreachable host that only the failing test contacts is a machine problem', () => {
    const network = [own, { ...lost, resourceType: 'fetch', common: false }];
    expect(classify(failing(assertion, { network })).advice).toContain('js.pay.example');
  });

  it.each([
    ['an answer', 'https://files.pay.example/a.png', '{"url":"https://files.pay.example/a.png?sign=1"}'],
    ['a name without a domain', 'http://minio:9000/a.png', null],
  ])('CS-11 HL-7 a host that the app itself named by %s is a code problem', (_, url, responseBody) => {
    const put = request({
      method: 'PUT',
      url,
      status: null,
      failure: 'net::ERR_NAME_NOT_RESOLVED',
      common: false,
    });
    const { category, retry, advice } = classify(
      failing(assertion, { network: [own, request({ status: 200, responseBody }), put] }),
    );
    expect({ category, retry, advice }).toEqual({ category: 'network-error', retry: 'code_error' });
  });

  it.each([
    ['Redis', 'MaxRetriesPerRequestError: Reached the max retries per request limit (which is 3).', 6399],
    ['PostgreSQL', 'error: connection terminated: connect ECONNREFUSED 127.0.0.1:5432', 5432],
  ])(
    'HL-7 CS-7 a service that a server cannot reach decides, with or without a page: %s',
    (_, said, port) => {
      const serverOutput = `[db] connect ECONNREFUSED 127.0.0.1:${port}\n${said}`;
      const { why, advice } = classify(failing(assertion, { network: [own, request()], serverOutput }));
      expect(why[0]?.evidence).toContain(`ECONNREFUSED 127.0.0.1:${port}`);
      expect(advice).toBe(
        `nothing listens at 127.0.0.1:${port}, where a server of the suite looks for a service: start it`,
      );
    },
  );

  it('HL-7 a service problem that passing tests see too still starts an agent', () => {
    const serverOutput = 'connect ECONNREFUSED 127.0.0.1:6399';
    const network = [own, request({ status: 200 })];
    const { advice } = classify(failing(assertion, { network, serverOutput, ofOthers: [serverOutput] }));
    expect(advice).toBeUndefined();
  });

  it('HL-7 CS-11 reports a configured web server that listens on the other loopback address', () => {
    const evidence = failing('Error: page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:4321/', {
      pageUrl: null,
    });
    const { why, retry } = explainOtherLoopback(classify(evidence), evidence, new Map([[4321, ['::1']]]));
    const sentence =
      '127.0.0.1:4321 refuses connections, while a web server in the config listens at [::1]:4321';
    expect({ said: why[0]?.evidence, retry }).toEqual({ said: sentence, retry: 'code_error' });
    expect(
      explainOtherLoopback(classify(evidence), evidence, new Map([[4321, ['127.0.0.1']]])).why[0]?.evidence,
    ).not.toBe(sentence);
  });
});

describe('EV-11 evidence of any size', () => {
  const megabyte = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length));
  const pieces = [
    'a',
    'at /',
    '(a)/',
    'a.ts:1:2',
    '"\\',
    "getByText('",
    '<a ',
    'Error: ',
    'Expected: "',
    '\n',
    '1|',
    ' ',
  ];
  it.each(pieces)('EV-11 classifies a megabyte of %j by the part that it reads', (piece) => {
    const long = megabyte(piece);
    const diagnosis = classify(
      failing(`${locatorTimeout}\n${long}`, {
        console: [logged(long, { type: 'pageerror', stack: long })],
        network: [request({ responseBody: long }), request({ url: `http://localhost:3000/${long}` })],
        serverOutput: long,
        ariaSnapshot: long,
      }),
    );
    expect(diagnosis.category).not.toBe('unknown');
  });

  it('EV-11 reads the beginning and the end of a long text', () => {
    const long = `${megabyte('noise\n')}error TS2304: Cannot find name 'cart'.`;
    expect(classify(failing('', { serverOutput: long })).category).toBe('build-error');
  });
});

// What each database's messages name is in recorded-failures.jsonl.
describe('EV-5 database facts', () => {
  const message =
    '{"code":"23505","message":"duplicate key value violates unique constraint \\"orders_number_key\\""}';
  it.each([
    ['the error', failing(message)],
    ['the console', failing(locatorTimeout, { console: [logged(message)] })],
    ['the body of a response', failing(locatorTimeout, { network: [request({ responseBody: message })] })],
    ['the output of the server', failing(locatorTimeout, { serverOutput: `[WebServer] ${message}` })],
  ])('EV-5 finds them in %s', (_, evidence) => {
    const { category, facts } = classify(evidence);
    expect(category).toBe('database-error');
    expect(facts).toMatchObject({ sqlState: '23505', constraint: 'orders_number_key' });
  });

  it('EV-5 shows the beginning of a long statement and the text around the column', () => {
    const columns = Array.from({ length: 200 }, (_, n) => (n === 150 ? 'orders.vat' : `orders.column_${n}`));
    const statement = `select ${columns.join(', ')}\nfrom orders`;
    const { facts } = classify(
      failing(`error: column orders.vat does not exist\n[SQL: ${statement}]\n(more)`),
    );
    expect(facts).toMatchObject({ table: 'orders', column: 'vat' });
    expect(facts.sql).toMatch(
      /^select orders\.column_0, [^]* … [^]*column_149, orders\.vat, orders\.column_151[^]* …$/,
    );
    expect(facts.sql?.length).toBeLessThan(610);
  });

  const missing = 'error: column "vat" of relation "orders" does not exist';
  it.each([
    ['about the same', `${missing}\n  code: '42703',`, '42703'],
    [
      'that the first error caused',
      "error: terminating connection due to administrator command\n  code: '57P01',",
      null,
    ],
  ])('EV-5 adds the server’s output about an error %s', (_, serverOutput, sqlState) => {
    const { facts } = classify(failing(missing, { serverOutput, pageUrl: null }));
    expect(facts).toMatchObject({ sqlState, table: 'orders', column: 'vat' });
  });
});

const proxyDown: ProjectRule = {
  id: 'proxy-down',
  category: 'network-error',
  pattern: '^upstream (?:gone|away)',
  sources: ['console', 'server'],
  retry: 'env_error',
};
const console = [logged('TypeError: x is not a function'), logged('upstream gone')];

it('CS-9 a rule of the project outranks the built-in ones, and is named in the diagnosis', () => {
  const classify = createClassify({ ...noProjectRules, rules: [proxyDown] });
  const diagnosis = classify(failing(locatorTimeout, { console }));
  expect(diagnosis).toMatchObject({ category: 'network-error', retry: 'env_error', confidence: 1 });
  expect(diagnosis.why[0]).toMatchObject({ rule: 'project/proxy-down', evidence: 'upstream gone' });
  expect(diagnosis.alternatives).toEqual(['runtime-error', 'ui-error']);
});

it('CS-9 text that the project ignores decides nothing', () => {
  const classify = createClassify({ ...noProjectRules, ignore: ['x is not a function'] });
  expect(classify(failing(locatorTimeout, { console })).category).toBe('ui-error');
});

it('CS-9 a built-in rule can be switched off', () => {
  const evidence = failing(locatorTimeout, { network: [request({ status: 409 })] });
  expect(createClassify()(evidence).category).toBe('network-error');
  const classify = createClassify({ ...noProjectRules, off: ['network/own-request-4xx'] });
  expect(classify(evidence).category).toBe('ui-error');
});

const graphql = (errors: unknown, over: Partial<NetworkEntry> = {}) => {
  const responseBody = JSON.stringify({ data: null, errors });
  const failure = findGraphQlFailure(200, responseBody);
  return request({ url: 'http://localhost:3000/graphql', status: null, failure, responseBody, ...over });
};
const masked = { message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
const forbidden = { message: 'Only admins may remove tickets', extensions: { code: 'FORBIDDEN' } };

describe('graphQlErrors', () => {
  it.each([
    ['errors first', '{"errors":[{"message":"no"}],"data":null}', ['no']],
    ['errors last', '{"data":{"a":null},"errors":[{"message":"no"}]}', ['no']],
    ['a batch', '[{"data":{}},{"errors":[{"message":"no"}]}]', ['no']],
    ['no errors', '{"data":{"errors":[{"message":"no"}]}}', []],
    ['an empty list', '{"data":{},"errors":[]}', []],
    ['errors without a message', '{"errors":[{"path":["title"]}]}', []],
    ['another text', 'no "errors"', []],
  ])('CS-7 reads %s', (_, body, messages) => {
    expect(parseGraphQlErrors(body).map(({ message }) => message)).toEqual(messages);
  });
});

describe('CS-7 a GraphQL response that reports errors with the status of a success', () => {
  it.each([
    [
      "TypeError: Cannot read properties of undefined (reading 'name')\n    at addComment (/project/server/schema.ts:63:97)",
      'runtime-error',
      'server/schema.ts:63:97',
    ],
    [
      'SqliteError: no such column: deadline\n    at tickets (/project/server/schema.ts:34:22)',
      'database-error',
      'server/schema.ts:34:22',
    ],
  ])('CS-7 is explained by the server’s log: %s', (serverOutput, category, source) => {
    const diagnosis = classify(failing(locatorTimeout, { network: [graphql([masked])], serverOutput }));
    expect(diagnosis).toMatchObject({ category, facts: { source } });
  });

  it('CS-7 counts as a refusal of the test’s own request only if the test fails because of it', () => {
    const network = [graphql([forbidden], { resourceType: 'api' }), request({ status: 200 })];
    expect(classify(failing(locatorTimeout, { network })).category).toBe('ui-error');
    const quoted = failing('Error: GraphQL: Only admins may remove tickets', { network });
    expect(classify(quoted).category).toBe('network-error');
  });

  it('CS-7 is only a hint if passing tests got it, unless the server failed itself', () => {
    const common = (error: unknown) =>
      classify(
        failing(locatorTimeout, {
          network: [graphql([error], { common: true })],
          serverOutput: 'TypeError: a is not a function',
          ofOthers: ['TypeError: a is not a function'],
        }),
      );
    expect(common(forbidden).category).toBe('ui-error');
    expect(common(masked).category).toBe('runtime-error');
  });
});

describe('end of the browser', () => {
  const closed = 'Error: locator.click: Target page, context or browser has been closed';
  const launched = '\nBrowser logs:\n\n<launching> /usr/bin/chromium --headless\n<launched> pid=7';
  const printed = (text: string) =>
    `\n[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "${text}", source: http://x/ (1)`;
  const noise = '\n[pid=7][err] [1122/101500.1:ERROR:dbus/bus.cc:405] Failed to connect to the bus';
  const closing = '\n[pid=7] <gracefully close start>';
  const crash = '\n[pid=7] <process did exit: exitCode=null, signal=SIGSEGV>';
  const call = '\nCall log:\n  - waiting for x';
  const limit = 'Test timeout of 5000ms exceeded.';

  const read = (...messages: string[]) =>
    stabilizeTimeoutErrors(messages.map((message) => anError(message))).map(({ message }) => message.trim());
  const classOf = (...messages: string[]) =>
    classify(anEvidence({ errors: stabilizeTimeoutErrors(messages.map((message) => anError(message))) }));

  it('CS-7 removes the browser’s output from the error that quotes it, except for how its process ended', () => {
    const text = closed + launched + noise + printed('Uncaught ReferenceError: noise is not defined') + crash;
    expect(read(text)).toEqual([closed + crash]);
    expect(read(closed + printed('two\nlines') + closing + call)).toEqual([closed + call]);
    expect(read(`x${call}\n  - [pid=7][err] x`)).toEqual([`x${call}`]);
  });

  it('CS-5 keeps the output of a browser that did not start', () => {
    const text = `Error: browserType.launch: Target page has been closed${launched}\n[pid=7][err] no display`;
    expect(read(text)).toEqual([text]);
  });

  it('ME-1 CS-7 an action cut off by the test’s end has one message, with its page open or closed', () => {
    const covered = `${call}\n  - <p>Hello</p> from <div id="veil">…</div> subtree intercepts pointer events`;
    const inTime = [limit, `Error: locator.click: ${limit}${covered}`] as const;
    expect(read(limit, closed + launched + noise + closing + covered)).toEqual(inTime);
    expect(classOf(limit, closed + launched + covered)).toMatchObject({ category: 'ui-error' });
    const opened = '\nCall log:\n  - navigating to "http://localhost:3000/", waiting until "load"';
    expect(read(limit, `Error: page.goto: net::ERR_ABORTED; maybe frame was detached?${opened}`)).toEqual([
      limit,
      `Error: page.goto: ${limit}${opened}`,
    ]);
    // A page that was closed before the limit was reached is another failure.
    expect(read(closed, limit)).toEqual([closed, limit]);
    expect(read(closed)).toEqual([closed]);
  });
});
