import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { unanswered } from '../../../src/core/evidence.js';
import { anError } from '../../rig/builders.js';
import { failing, locatorTimeout, request } from './classify-evidence.js';

const serverOutput = 'POST /api/orders failed: new row violates row-level security policy for table "orders"';
const answered = request({ method: 'GET', status: 200 });

it('CS-8 the server’s output does not count if all requests of this page succeeded', () => {
  expect(classify(failing(locatorTimeout, { serverOutput, network: [answered] })).category).toBe('ui-error');
});

const neverThere = `TimeoutError: page.waitForURL: Timeout 5000ms exceeded.
=========================== logs ===========================
waiting for navigation to "**/orders" until "load"
============================================================`;

it.each([
  ['the app got all its answers', 'ui-error', [answered]],
  ['a request of the app is still open', 'network-error', [answered, request({ status: null })]],
  ['a request of the app failed', 'network-error', [answered, request()]],
  ['nothing is known of its requests', 'network-error', []],
])('CS-7 a time-out of waitForURL is an error of the app or of the network: %s', (_, category, network) => {
  expect(classify(failing(neverThere, { network })).category).toBe(category);
});

it('CS-7 the server’s output counts if a request of this page failed', () => {
  const network = [answered, request()];
  const diagnosis = classify(failing(locatorTimeout, { serverOutput, network }));
  expect(diagnosis.alternatives).toContain('ui-error');
  expect(diagnosis.category).toBe('database-error');
});

const missingFile = 'ENOENT: no such file or directory';
const unreachable = 'Error: connect ECONNREFUSED 127.0.0.1:9000';

it.each<[string, string, { serverOutput?: string; responseBody?: string; status: number }]>([
  ['decides if the server says why', 'database-error', { serverOutput, status: 500 }],
  ['decides if its body says why', 'database-error', { responseBody: serverOutput, status: 500 }],
  ['decides nothing if nothing says why', 'ui-error', { status: 500 }],
  ['decides nothing if a server is missing', 'ui-error', { serverOutput: unreachable, status: 502 }],
  ['decides nothing if it refuses', 'ui-error', { serverOutput, responseBody: missingFile, status: 404 }],
])(
  'CS-7 an answer that pages of passing tests got too %s',
  (_, category, { serverOutput = '', ...answer }) => {
    const network = [answered, { ...request(answer), common: true }];
    expect(classify(failing(locatorTimeout, { serverOutput, network })).category).toBe(category);
  },
);

const open = request({ status: null, failure: unanswered });

it.each([
  ['the server says why', 'database-error', { serverOutput, network: [answered, open] }],
  ['nothing says why', 'network-error', { network: [answered, open] }],
  ['passing tests end like this, too', 'ui-error', { serverOutput, network: [{ ...open, common: true }] }],
])('CS-5 CS-7 a page without the answer to its call is no error of the page: %s', (_, category, over) => {
  expect(classify(failing(locatorTimeout, over)).category).toBe(category);
});

it.each(['Port 4000 not available. Exiting process.', 'Error: Port 3000 is already in use'])(
  'CS-5 a setup that ends because its port is in use is a network error: %s',
  (said) => {
    const message = 'Error: Playwright ended before it finished the run: exit code 0';
    const { category } = classify(failing(message, { serverOutput: said, pageUrl: null }));
    expect(category).toBe('network-error');
  },
);

it('CS-8 a slow build is not a failed build', () => {
  const slow = '[PLUGIN_TIMINGS] Your build spent significant time in plugins. Here is a breakdown:';
  const message = 'Error: Timed out waiting 60000ms from config.webServer.';
  const evidence = failing(message, { serverOutput: slow, pageUrl: null });
  expect(classify(evidence).category).toBe('network-error');
});

it('CS-2 the server’s output counts if there was no page', () => {
  const message = 'Error: apiRequestContext.post: 500 Internal Server Error';
  expect(classify(failing(message, { serverOutput, pageUrl: null })).category).toBe('database-error');
});

it.each([
  ['it expects', 'Error: expect(received).toEqual(expected)', 'ui-error'],
  ['it fails on', 'Error: expect(received).toBe(expected)\n\nExpected: 200\nReceived: 404', 'database-error'],
])(
  'CS-8 a refused request of the test itself counts only if the test fails on it: one that %s',
  (_, message, category) => {
    const network = [request({ resourceType: 'api', status: 404 })];
    expect(classify(failing(message, { serverOutput, network, pageUrl: null })).category).toBe(category);
  },
);

const refused = request({
  resourceType: 'api',
  method: 'GET',
  status: 404,
  responseBody: '<!DOCTYPE html><p>no',
});
const line = 'api GET /api/orders → 404';

it.each<[string, string, string | null, string | undefined]>([
  ['names its status', 'Error: expect(received).toBe(expected)\n\nExpected: 200\nReceived: 404', null, line],
  [
    'reads its status',
    'Error: expect(received).toBeTruthy()\n\nReceived: false',
    '> 12 |   expect(answer.ok()).toBeTruthy();',
    line,
  ],
  [
    'cannot parse its body',
    `SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
    null,
    line,
  ],
  [
    'is about an element with such a number',
    'Error: expect(locator).toHaveText(expected) failed\n\nLocator: locator(\'h1\')\nExpected: "404"\nReceived: ""',
    null,
    undefined,
  ],
])(
  'CS-7 CS-8 a refused request is the cause only of an error about it: one that %s',
  (_, message, snippet, decided) => {
    const errors = [anError(message, { snippet })];
    const { category, why } = classify(failing(message, { network: [refused], errors }));
    expect({ category, decided: why.find(({ source }) => source === 'network')?.evidence }).toEqual({
      category: decided === undefined ? 'ui-error' : 'network-error',
      decided,
    });
  },
);

it('CS-8 an assertion on a status is about the last response, not about an earlier refusal', () => {
  const errors = [
    anError('Error: expect(received).toBe(expected)', {
      snippet: '> 12 |   expect(answer.status()).toBe(201);',
    }),
  ];
  const network = [refused, request({ resourceType: 'api', status: 200 })];
  expect(classify(failing('', { network, errors })).why.map(({ source }) => source)).toEqual(['error']);
});

it.each([
  ['expect(body.status).toBe("healthy");', '"healthy"', '"ok"', 'ui-error'],
  ['expect(response.status).toBe(200);', '200', '500', 'network-error'],
  ['expect(response.status()).toBe(expected);', '200', '500', 'network-error'],
])(
  'CS-5 a field named status is an HTTP status only if it is compared with one: %s',
  (line, expected, received, category) => {
    const message = `Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: ${expected}\nReceived: ${received}\n\n> 11 |   ${line}\n     |   ^`;
    expect(classify(failing(message, { pageUrl: null })).category).toBe(category);
  },
);

it.each([
  [
    'an object of the driver that an exception names',
    "Traceback (most recent call last):\n  File \"/srv/shop/tool.html\", line 5, in block 'main'\njinja2.exceptions.UndefinedError: 'psycopg2.extras.DictRow object' has no attribute 'total'",
    'runtime-error',
  ],
  [
    'a record of the driver',
    "AttributeError: 'asyncpg.Record' object has no attribute 'total'",
    'runtime-error',
  ],
  ['a result', "NoMethodError: undefined method `total' for #<PG::Result:0x0000>", 'runtime-error'],
  ['an error of the driver', 'psycopg2.OperationalError: no more rows', 'database-error'],
  [
    'an error that another layer wraps',
    '(psycopg2.errors.AmbiguousColumn) which total is meant',
    'database-error',
  ],
  ['an error of Ruby’s driver', 'PG::Error: no result', 'database-error'],
])('CS-8 the name of a driver is a database error only as the name of its error: %s', (_, said, category) => {
  const network = [request({ status: 500 })];
  const evidence = failing('Error: element(s) not found', { serverOutput: said, network });
  expect(classify(evidence).category).toBe(category);
});

it.each([
  [
    'a refused connection',
    'ConnectionRefusedError: [Errno 111] Connection refused',
    'urllib.error.URLError: <urlopen error [Errno 111] Connection refused>',
    'network-error',
  ],
  ['an exception of the app', "KeyError: 'name'", 'shop.errors.Unfinished: no order', 'runtime-error'],
])('CS-8 what Python puts between two tracebacks decides nothing: %s', (_, first, last, category) => {
  const frames = 'Traceback (most recent call last):\n  File "/srv/shop/views.py", line 9, in order';
  const between = 'During handling of the above exception, another exception occurred:';
  const serverOutput = [frames, first, '', between, '', frames, last].join('\n');
  const network = [request({ method: 'POST', status: 500 })];
  const { why, ...found } = classify(failing('Error: element(s) not found', { serverOutput, network }));
  expect({ category: found.category, said: why[0]?.evidence }).toEqual({
    category,
    said: category === 'network-error' ? last : first,
  });
});

it('CS-8 an address that is not found says more than the page that is sent for it', () => {
  const responseBody = '<!doctype html><title>404 Not Found</title><h1>Not Found</h1>';
  const network = [request({ url: 'http://localhost:3000/api/summaries', status: 404, responseBody })];
  expect(classify(failing('Error: element(s) not found', { network })).why[0]?.evidence).toBe(
    'fetch POST /api/summaries → 404',
  );
});
