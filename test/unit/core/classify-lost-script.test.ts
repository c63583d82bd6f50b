import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

const script = (url: string, over = {}) =>
  request({ method: 'GET', url, resourceType: 'script', status: 404, time: 1, ...over });
const thrown = (text: string, time = 2) => logged(text, { type: 'pageerror', time });
const missing = script('http://localhost:3000/vendor/calendar.js');
const undefinedName = thrown('ReferenceError: Calendar is not defined');

describe('CS-7 exceptions caused by a script that did not load', () => {
  it.each([
    ['name', undefinedName],
    ['object', thrown("TypeError: Cannot read properties of undefined (reading 'open')")],
    ['function', thrown('TypeError: $(...).calendar is not a function')],
  ])(
    'CS-7 a missing %s of the app’s own script is a network error, with the exception as an alternative',
    (_, entry) => {
      const diagnosis = classify(failing(locatorTimeout, { network: [missing], console: [entry] }));
      expect(diagnosis.category).toBe('network-error');
      expect(diagnosis.facts.endpoint).toBe('GET /vendor/calendar.js → 404');
      expect(diagnosis.alternatives).toContain('runtime-error');
    },
  );

  it('CS-7 a page in place of a script is the cause, not what the browser says of its first character', () => {
    const page = { status: null, failure: '200 with text/html in place of a script' };
    const console = [thrown("SyntaxError: Unexpected token '<'")];
    const vendor = classify(failing(locatorTimeout, { network: [{ ...missing, ...page }], console }));
    expect(vendor).toMatchObject({
      category: 'network-error',
      facts: { endpoint: 'GET /vendor/calendar.js → 200 with text/html in place of a script' },
    });
    const source = script('http://localhost:3000/src/calendar.ts', page);
    expect(classify(failing(locatorTimeout, { network: [source], console })).why[0]?.rule).toBe(
      'build/missing-script',
    );
    expect(classify(failing(locatorTimeout, { console })).category).toBe('build-error');
  });

  it('CS-7 the browser’s refusal to execute a script decides only if the script’s request succeeded', () => {
    const refused = (url: string) =>
      logged(`Refused to execute script from '${url}' because its MIME type ('text/html') is not executable`);
    const console = [refused(missing.url), undefinedName];
    expect(classify(failing(locatorTimeout, { network: [missing], console })).category).toBe('network-error');
    const answered = { ...missing, status: 200 };
    expect(classify(failing(locatorTimeout, { network: [answered], console })).category).toBe('build-error');
  });

  it('CS-7 a missing name of a third-party script is a network error, also inside the test’s own call', () => {
    const network = [
      script('https://cdn.example/chart.js', { status: null, failure: 'net::ERR_NAME_NOT_RESOLVED' }),
    ];
    const console = [thrown('ReferenceError: Chart is not defined')];
    expect(classify(failing(locatorTimeout, { network, console })).category).toBe('network-error');
    const inside = 'Error: page.evaluate: ReferenceError: Chart is not defined\n    at eval (eval:1:1)';
    expect(classify(failing(inside, { network })).category).toBe('network-error');
  });

  it('CS-7 an exception that names a lost third-party library is a network error, even if the test fails on something else', () => {
    const url = 'https://cdn.example/highlight.js/9.12.0/highlight.min.js';
    const network = [script(url, { status: null, failure: 'net::ERR_NAME_NOT_RESOLVED' })];
    const asked = 'Error: Syntax module requires highlight.js. Please include the library on the page.';
    const inside =
      "Error: page.evaluate: TypeError: Cannot read properties of undefined (reading 'setContents')";
    const classOf = (text: string) =>
      classify(failing(inside, { network, console: [thrown(text)] })).category;
    expect(classOf(asked)).toBe('network-error');
    expect(classOf('Error: The highlighted part is gone')).toBe('runtime-error');
  });

  it('CS-7 a lost third-party script does not count as the app’s own if the page never loaded', () => {
    const document = request({
      method: 'GET',
      resourceType: 'document',
      status: 200,
      url: 'https://127.0.0.1:9001/',
    });
    const network = [
      document,
      script('https://cdn.example/chart.js', { status: null, failure: 'net::ERR_FAILED' }),
    ];
    const { why } = classify(
      failing('Error: page.goto: Test timeout of 5000ms exceeded.', { network, pageUrl: 'about:blank' }),
    );
    expect(why.map(({ source }) => source)).not.toContain('network');
  });

  it.each([
    ['it was thrown before the request', { network: [missing], console: [{ ...undefinedName, time: 0 }] }],
    [
      'passing tests lack the script, too',
      { network: [{ ...missing, common: true }], console: [undefinedName] },
    ],
    [
      'the script is a third-party beacon',
      {
        network: [
          script('https://www.googletagmanager.com/gtm.js', { status: null, failure: 'net::ERR_FAILED' }),
        ],
        console: [undefinedName],
      },
    ],
    [
      'an undefined object need not come from the third-party script',
      {
        network: [script('https://cdn.example/chart.js')],
        console: [thrown("TypeError: Cannot read properties of undefined (reading 'open')")],
      },
    ],
    [
      'a navigation aborted the request',
      { network: [{ ...missing, status: null, failure: 'net::ERR_ABORTED' }], console: [undefinedName] },
    ],
  ])('CS-7 the exception decides if %s', (_, evidence) => {
    expect(classify(failing(locatorTimeout, evidence)).category).toBe('runtime-error');
  });

  it('CS-7 the app’s own exception inside the test’s call decides if every script loaded', () => {
    const inside = "Error: page.evaluate: TypeError: Cannot read properties of undefined (reading 'open')";
    expect(classify(failing(inside)).category).toBe('runtime-error');
    expect(classify(failing(inside, { network: [missing] })).category).toBe('network-error');
  });
});
