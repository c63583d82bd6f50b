import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { normalise } from '../../../src/core/normalise.js';
import { withoutBrowserOutput } from '../../../src/core/without-browser-output.js';
import { anError, anEvidence } from '../../rig/builders.js';

const closed = 'Error: locator.click: Target page, context or browser has been closed';
const launched = '\nBrowser logs:\n\n<launching> /usr/bin/chromium --headless\n<launched> pid=7';
const said = (text: string) =>
  `\n[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "${text}", source: http://x/ (1)`;
const noise = '\n[pid=7][err] [1122/101500.1:ERROR:dbus/bus.cc:405] Failed to connect to the bus';
const crash = '\n[pid=7] <process did exit: exitCode=null, signal=SIGSEGV>';
const call = '\nCall log:\n  - waiting for x';

it('CS-7 what a browser printed is no part of the error that quotes it, but for how its process ended', () => {
  const text = closed + launched + noise + said('Uncaught ReferenceError: noise is not defined') + crash;
  expect(withoutBrowserOutput(text)).toBe(closed + launched + crash);
  expect(withoutBrowserOutput(closed + said('two\nlines') + call)).toBe(closed + call);
  expect(withoutBrowserOutput(`${call}\n  - [pid=7][err] x`)).toBe(`${call}\n`);
});

it('CS-5 why a browser did not start is in its output', () => {
  const text = `Error: browserType.launch: Target page has been closed${launched}\n[pid=7][err] no display`;
  expect(withoutBrowserOutput(text)).toBe(text);
});

it('CS-7 what a browser printed decides no class', () => {
  const of = (message: string) => classify(anEvidence({ errors: [anError(message)] })).category;
  const text = closed + launched + noise + said('Uncaught ReferenceError: noise is not defined');
  expect(of(withoutBrowserOutput(text + call))).toBe(of(closed + call));
});

it('ME-1 what a browser printed is no part of a signature', () => {
  expect(normalise(closed + launched + call)).toBe(
    normalise(`${closed}${launched}\n[pid=7] <gracefully close start>${call}`),
  );
  expect(normalise('Browser logs:\nTypeError: a')).not.toBe(normalise('Browser logs:\nTypeError: b'));
});
