import { expect, it } from 'vitest';
import { longWaitHint } from '../../../src/heal/confirm.js';
import { aDiagnosed, anError, aTestFailure } from '../../rig/builders.js';

const red = (...messages: string[]) =>
  aDiagnosed({ failure: aTestFailure({ errors: messages.map((message) => anError(message)) }) });
const click = 'Error: locator.click: Test timeout of 30000ms exceeded.';

it.each([
  ['an action that waits as long as its test', click, /30s.*actionTimeout/],
  ['an action that waits for less', 'Error: locator.click: Test timeout of 5000ms exceeded.', null],
  ['a test that no action holds up', 'Test timeout of 30000ms exceeded.', null],
] as const)('RP-1 hints at actionTimeout for %s only if it is worth it', (_, message, words) => {
  const hint = longWaitHint([red('Error: boom'), red(message)]);
  if (words === null) expect(hint).toBeNull();
  else expect(hint).toMatch(words);
});
