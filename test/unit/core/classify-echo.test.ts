import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

const network = [request({ responseBody: '{"error":"The rates \\"EU\\" are not loaded"}' })];
const pageError = (text: string) => logged(text, { type: 'pageerror' });

describe('CS-7 a page that repeats a response', () => {
  it('CS-7 a page that throws the words of a failed response has a network error, with the symptom as an alternative', () => {
    const console = [pageError('Error: The rates "EU" are not loaded')];
    const diagnosis = classify(failing(locatorTimeout, { network, console }));
    expect([diagnosis.category, ...diagnosis.alternatives]).toEqual(['network-error', 'ui-error']);
  });

  it.each([
    ['an HTML page', '\n<!DOCTYPE html><p>Internal Server Error', `"\n<!DOCTYPE "... is not valid JSON`],
    ['plain text', 'Bad Gateway', '"Bad Gateway" is not valid JSON'],
  ])('CS-7 a page that reads %s as JSON has a network error', (_, responseBody, quote) => {
    const html = [request({ responseBody })];
    const console = [pageError(`SyntaxError: Unexpected token '<', ${quote}`)];
    expect(classify(failing(locatorTimeout, { network: html, console })).category).toBe('network-error');
  });

  it('CS-7 an exception in its own words remains the cause although a request failed', () => {
    const console = [pageError("TypeError: Cannot read properties of undefined (reading 'rate')")];
    expect(classify(failing(locatorTimeout, { network, console })).category).toBe('runtime-error');
  });

  it('CS-7 what the server threw comes before what the page threw about the answer', () => {
    const console = [pageError('TypeError: notes.map is not a function')];
    const serverOutput =
      "TypeError: Cannot read properties of undefined (reading 'filter')\n    at list (/project/server/notes.js:4:21)";
    const { why, facts } = classify(failing(locatorTimeout, { network, console, serverOutput }));
    expect(why[0]).toMatchObject({ source: 'server', category: 'runtime-error' });
    expect(facts.source).toBe('server/notes.js:4:21');
  });

  it.each([
    ['FrameMissingError: The response (404) has no <turbo-frame id="hello">', 404, 'network-error'],
    ['Error: Could not load the rates: 503', 503, 'network-error'],
    ['Error: POST /api/orders: 500', 500, 'network-error'],
    ['Error: no order 500 in /api/carts', 500, 'runtime-error'],
    ['Error: GET /orders: 500', 500, 'network-error'],
    ['Error: GET /my-orders: 500', 500, 'runtime-error'],
    ['Error: The rates were answered with 503', 503, 'network-error'],
    ['Error: The rates were answered with 503', 500, 'runtime-error'],
    [
      "SyntaxError: Failed to execute 'json' on 'Response': Unexpected end of JSON input",
      500,
      'network-error',
    ],
    ['FrameMissingError: The response (404) has no <turbo-frame id="hello">', 500, 'runtime-error'],
    ['RateError: no rate for item 404', 404, 'runtime-error'],
  ])('CS-7 a page that throws %s after a status of %i has a %s', (text, status, category) => {
    const answered = [request({ status, responseBody: '' })];
    const diagnosis = classify(failing(locatorTimeout, { network: answered, console: [pageError(text)] }));
    expect(diagnosis.category).toBe(category);
  });

  it('CS-7 a page that repeats only a short text of a response keeps its exception as the cause', () => {
    const console = [pageError('Error: the basket is not loaded')];
    const short = [request({ responseBody: '{"error":"not loaded"}' })];
    expect(classify(failing(locatorTimeout, { network: short, console })).category).toBe('runtime-error');
  });
});
