import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

const script = (url: string, over = {}) =>
  request({ method: 'GET', url, resourceType: 'script', status: 404, time: 1, ...over });
const thrown = (text: string, time = 2) => logged(text, { type: 'pageerror', time });
const missing = script('http://localhost:3000/vendor/calendar.js');
const undefinedName = thrown('ReferenceError: Calendar is not defined');

describe('CS-7 what a page throws for want of a script that did not load', () => {
  it.each([
    ['a name', undefinedName],
    ['a part', thrown("TypeError: Cannot read properties of undefined (reading 'open')")],
    ['a call', thrown('TypeError: $(...).calendar is not a function')],
  ])(
    'CS-7 %s of the app’s own is missed: the request failed, the exception stays as an alternative',
    (_, entry) => {
      const diagnosis = classify(failing(locatorTimeout, { network: [missing], console: [entry] }));
      expect(diagnosis.category).toBe('network-error');
      expect(diagnosis.facts.endpoint).toBe('GET /vendor/calendar.js → 404');
      expect(diagnosis.alternatives).toContain('runtime-error');
    },
  );

  it('CS-7 that the browser did not run what came in a script’s place only repeats its status', () => {
    const refused = (url: string) =>
      logged(`Refused to execute script from '${url}' because its MIME type ('text/html') is not executable`);
    const console = [refused(missing.url), undefinedName];
    expect(classify(failing(locatorTimeout, { network: [missing], console })).category).toBe('network-error');
    const answered = { ...missing, status: 200 };
    expect(classify(failing(locatorTimeout, { network: [answered], console })).category).toBe('build-error');
  });

  it('CS-7 a name of a stranger’s script is missed, inside the test’s own call too', () => {
    const network = [
      script('https://cdn.example/chart.js', { status: null, failure: 'net::ERR_NAME_NOT_RESOLVED' }),
    ];
    const console = [thrown('ReferenceError: Chart is not defined')];
    expect(classify(failing(locatorTimeout, { network, console })).category).toBe('network-error');
    const inside = 'Error: page.evaluate: ReferenceError: Chart is not defined\n    at eval (eval:1:1)';
    expect(classify(failing(inside, { network })).category).toBe('network-error');
  });

  it('CS-7 a stranger’s library is missed by its name, and what the page did not set up then is no cause either', () => {
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

  it('CS-7 a stranger’s script that did not load is none of the app’s own where the page never got there', () => {
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
    ['it was thrown before', { network: [missing], console: [{ ...undefinedName, time: 0 }] }],
    [
      'passing tests do without the script',
      { network: [{ ...missing, common: true }], console: [undefinedName] },
    ],
    [
      'the script is a beacon of a stranger',
      {
        network: [
          script('https://www.googletagmanager.com/gtm.js', { status: null, failure: 'net::ERR_FAILED' }),
        ],
        console: [undefinedName],
      },
    ],
    [
      'a stranger’s script says nothing of a part that is undefined',
      {
        network: [script('https://cdn.example/chart.js')],
        console: [thrown("TypeError: Cannot read properties of undefined (reading 'open')")],
      },
    ],
    [
      'the navigation broke it off',
      { network: [{ ...missing, status: null, failure: 'net::ERR_ABORTED' }], console: [undefinedName] },
    ],
  ])('CS-7 the exception decides where %s', (_, evidence) => {
    expect(classify(failing(locatorTimeout, evidence)).category).toBe('runtime-error');
  });

  it('CS-7 the app’s own exception inside the test’s call decides where every script came', () => {
    const inside = "Error: page.evaluate: TypeError: Cannot read properties of undefined (reading 'open')";
    expect(classify(failing(inside)).category).toBe('runtime-error');
    expect(classify(failing(inside, { network: [missing] })).category).toBe('network-error');
  });
});
