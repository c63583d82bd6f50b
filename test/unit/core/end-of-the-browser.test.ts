import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { withoutChanceOfTheEnd } from '../../../src/core/end-of-the-browser.js';
import { normalise } from '../../../src/core/normalise.js';
import { anError, anEvidence } from '../../rig/builders.js';

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
  withoutChanceOfTheEnd(messages.map((message) => anError(message))).map(({ message }) => message.trim());
const classOf = (...messages: string[]) =>
  classify(anEvidence({ errors: withoutChanceOfTheEnd(messages.map((message) => anError(message))) }));

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

it('CS-7 the browser’s output does not decide the class', () => {
  const text = closed + launched + noise + printed('Uncaught ReferenceError: noise is not defined');
  expect(classOf(text + call)).toEqual(classOf(closed + call));
  expect(classOf(text).why.map(({ rule }) => rule)).toEqual(['unknown/crash']);
});

it('ME-1 CS-7 an action cut off by the end of a test has the same message whether or not its page was closed first', () => {
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

it('ME-1 the browser’s output is not part of a signature', () => {
  expect(normalise(closed + launched + call)).toBe(normalise(closed + launched + closing + call));
  expect(normalise('Browser logs:\nTypeError: a')).not.toBe(normalise('Browser logs:\nTypeError: b'));
});
