import { describe, expect, it } from 'vitest';
import { cleanRequest } from '../../../src/evidence/clean-request.js';
import { ConsoleSelection } from '../../../src/evidence/console-selection.js';
import { NetworkSelection } from '../../../src/evidence/network-selection.js';
import { MissingEvidence } from '../../../src/evidence/missing-evidence.js';
import { aConsoleEntry, aRequest } from './rig/failures.js';

describe('ConsoleSelection', () => {
  it('EV-3 keeps the last entries, in order, and says how many there were', () => {
    const selection = new ConsoleSelection(3);
    for (let time = 1; time <= 10; time += 1) selection.push(aConsoleEntry({ time, text: `line ${time}` }));
    const missing = new MissingEvidence();
    expect(selection.take(missing).map(({ text }) => text)).toEqual(['line 8', 'line 9', 'line 10']);
    expect(missing.cuts).toEqual(['3 of 10 console entries were kept']);
  });

  it('EV-3 does not let later lines push out an early page error', () => {
    const selection = new ConsoleSelection(50);
    selection.push(aConsoleEntry({ time: 1, type: 'pageerror', text: 'TypeError: first' }));
    for (let time = 2; time < 1000; time += 1) selection.push(aConsoleEntry({ time }));
    const kept = selection.take(new MissingEvidence());
    expect(kept).toHaveLength(50);
    expect(kept[0]?.text).toBe('TypeError: first');
  });

  it('EV-3 keeps the first and the last of many page errors, and the newest lines', () => {
    const selection = new ConsoleSelection(4);
    for (let time = 1; time <= 100; time += 1)
      selection.push(aConsoleEntry({ time, type: 'pageerror', text: `e${time}` }));
    selection.push(aConsoleEntry({ time: 101, text: 'newest' }));
    expect(selection.take(new MissingEvidence()).map(({ text }) => text)).toEqual([
      'e1',
      'e2',
      'e100',
      'newest',
    ]);
  });

  it('EV-11 counts entries that were dropped earlier, and cuts a long text', () => {
    const selection = new ConsoleSelection(5);
    selection.push(aConsoleEntry({ text: 'x'.repeat(100_000) }));
    const missing = new MissingEvidence();
    expect(Buffer.byteLength(selection.take(missing, 7)[0]?.text ?? '')).toBeLessThanOrEqual(2048);
    expect(missing.cuts).toEqual([
      '1 of 8 console entries were kept',
      'a console text was longer than 2048 bytes and was cut',
    ]);
  });

  it('EV-3 keeps nothing if its limit is 0', () => {
    const selection = new ConsoleSelection(0);
    selection.push(aConsoleEntry({ type: 'pageerror' }));
    expect(selection.take(new MissingEvidence())).toEqual([]);
  });
});

describe('NetworkSelection', () => {
  it('EV-4 keeps failed requests first, then calls, then images and scripts, in order of time', () => {
    const selection = new NetworkSelection(4);
    selection.push(aRequest({ time: 1, url: 'early-500', status: 500 }));
    selection.push(
      aRequest({ time: 2, url: 'refused', status: null, failure: 'net::ERR_CONNECTION_REFUSED' }),
    );
    selection.push(aRequest({ time: 3, url: 'old-call' }));
    selection.push(aRequest({ time: 4, url: 'call' }));
    selection.push(aRequest({ time: 5, url: 'call-2' }));
    for (let time = 6; time < 100; time += 1)
      selection.push(aRequest({ time, url: 'picture', resourceType: 'image' }));
    expect(selection.take().map(({ url }) => url)).toEqual(['early-500', 'refused', 'call', 'call-2']);
    expect(selection.pushed).toBe(99);
  });

  it('EV-4 fills up with scripts and images if there is room', () => {
    const selection = new NetworkSelection(10);
    selection.push(aRequest({ time: 2, url: 'call' }));
    selection.push(aRequest({ time: 1, url: 'script', resourceType: 'script' }));
    expect(selection.take().map(({ url }) => url)).toEqual(['script', 'call']);
  });

  it('EV-11 says that a request had more headers than are kept', () => {
    const names = Array.from({ length: 70 }, (_, n) => [`x-${n}`, 'any']);
    const [selection, missing] = [new NetworkSelection(1), new MissingEvidence()];
    selection.push(aRequest({ responseHeaders: Object.fromEntries(names) }));
    const [request] = selection.take().map((entry) => cleanRequest(entry, missing));
    expect(Object.keys(request?.responseHeaders ?? {})).toHaveLength(64);
    expect(missing.cuts).toEqual(['a request had more than 64 headers']);
  });
});
