import type { ConsoleEntry, Evidence, NetworkEntry } from '../../../src/model/evidence.js';
import { anError, anEvidence } from '../../rig/builders.js';

/** A click that waits for a button in vain. */
export const locatorTimeout = `TimeoutError: locator.click: Timeout 5000ms exceeded.
Call log:
  - waiting for getByRole('button', { name: 'Pay' })`;

/** The evidence of one error on a page of this machine. */
export function failing(message: string, over: Partial<Evidence> = {}): Evidence {
  return anEvidence({ errors: [anError(message)], pageUrl: 'http://localhost:3000/cart', ...over });
}

/** An error in the page's console. */
export function logged(text: string, over: Partial<ConsoleEntry> = {}): ConsoleEntry {
  return { time: 0, type: 'error', text, location: '', stack: null, ...over };
}

/** A request of the page that the app answered with 500. */
export function request(over: Partial<NetworkEntry> = {}): NetworkEntry {
  return {
    time: 0,
    method: 'POST',
    url: 'http://localhost:3000/api/orders',
    resourceType: 'fetch',
    status: 500,
    durationMs: 3,
    failure: null,
    requestHeaders: {},
    responseHeaders: {},
    requestBody: null,
    responseBody: null,
    ...over,
  };
}
