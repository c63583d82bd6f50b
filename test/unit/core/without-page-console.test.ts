import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { normalise } from '../../../src/core/normalise.js';
import { withoutPageConsole } from '../../../src/core/without-page-console.js';
import { anError, anEvidence } from '../../rig/builders.js';

const closed = 'Error: locator.click: Target page, context or browser has been closed';
const launched = '\nBrowser logs:\n\n<launching> /usr/bin/chromium --headless\n<launched> pid=7';
const said = (text: string) =>
  `\n[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "${text}", source: http://x/ (1)`;

it('CS-7 what the pages of a browser said is no part of the error that quotes the browser’s output', () => {
  const crash = '\n[pid=7][err] Received signal 11 SEGV_MAPERR';
  const text = closed + launched + said('Uncaught ReferenceError: noise is not defined') + crash;
  expect(withoutPageConsole(text)).toBe(closed + launched + crash);
  expect(withoutPageConsole(`${closed}${said('two\nlines')}\nCall log:\n  - click`)).toBe(
    `${closed}\nCall log:\n  - click`,
  );
  expect(withoutPageConsole('expected :CONSOLE:1] "x"')).toBe('expected :CONSOLE:1] "x"');
});

it('CS-7 an exception in the browser’s output decides no class', () => {
  const text = closed + launched + said('Uncaught ReferenceError: noise is not defined');
  const of = (message: string) => classify(anEvidence({ errors: [anError(message)] })).category;
  expect(of(withoutPageConsole(text))).toBe(of(closed));
});

it('ME-1 what a browser printed is no part of a signature', () => {
  const call = '\nCall log:\n  - waiting for x';
  expect(normalise(closed + launched + call)).toBe(
    normalise(`${closed}${launched}\n[pid=7] <gracefully close start>${call}`),
  );
  expect(normalise('Browser logs:\nTypeError: a')).not.toBe(normalise('Browser logs:\nTypeError: b'));
});
