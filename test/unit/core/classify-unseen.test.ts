import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { Category, RetryAxis } from '../../../src/core/diagnosis.js';
import { failing, locatorTimeout, request } from './classify-evidence.js';

/** Texts that no rule names: what they are shows in their form, in another language, or in what is left of them. */
const unseen: readonly (readonly [what: string, text: string, category: Category, retry: RetryAxis])[] = [
  ['a compiler nobody knows', 'lib/cart.rs:12:9: error: no such thing', 'build-error', 'code_error'],
  [
    'a plugin that threw',
    'TypeError: no ast\n    at TransformPluginContext.handler (file:///x/p.js:1:2)',
    'build-error',
    'code_error',
  ],
  [
    'a loader without its head',
    'Export named "vat" not found in module "/app/money.ts".',
    'build-error',
    'code_error',
  ],
  [
    'a shell in German',
    "'vite' wird nicht als interner oder externer Befehl erkannt",
    'build-error',
    'code_error',
  ],
  [
    'a rule of the style sheet',
    '`@layer shop` is used but no matching `@tailwind shop` directive is present.',
    'build-error',
    'code_error',
  ],
  ['PostgreSQL in French', "ERREUR:  la relation « commandes » n'existe pas", 'database-error', 'code_error'],
  [
    'PostgreSQL in Spanish, signing in',
    'la autentificación password falló para el usuario «tienda»',
    'database-error',
    'never_retry',
  ],
  [
    'the frames of a connection',
    '  File "/srv/django/db/backends/base/base.py", line 9, in ensure_connection',
    'database-error',
    'env_error',
  ],
  [
    'the tail of an error object',
    "  severity: 'ERROR',\n  routine: 'errorMissingColumn' }",
    'database-error',
    'code_error',
  ],
  ['a mapper in Java', 'PersistenceException: could not execute statement', 'database-error', 'code_error'],
  ['a store without a rule', 'Error: the schema of the shop is missing', 'database-error', 'code_error'],
  [
    'a server in one of two renderings',
    '- rendered on server: <!---->\n- expected on client: div',
    'runtime-error',
    'code_error',
  ],
  ['an exception of the app', 'CartTotalError: the sum is off', 'runtime-error', 'code_error'],
  [
    'frames of a bundle',
    'the sum is off\n    at t (http://localhost:3000/assets/cart.js:1:22)',
    'runtime-error',
    'code_error',
  ],
  ['a client in Python', 'httpx.RemoteProtocolError: the server left', 'network-error', 'code_error'],
  ['WebKit', 'page.goto: Could not connect to the server.', 'network-error', 'env_error'],
  ['a socket in German', 'connect: Verbindungsaufbau abgelehnt', 'network-error', 'code_error'],
  ['a GraphQL answer', '{"errors":[{"extensions":{"code":"FORBIDDEN"}}]}', 'network-error', 'code_error'],
  [
    'Selenium',
    'Expected condition failed: waiting for element to be clickable: By.id: pay',
    'ui-error',
    'code_error',
  ],
  ['another runner', 'expected [4] but found [1]', 'ui-error', 'code_error'],
  ['two roles that differ', '- - button "Pay 12"\n+ - button "Pay 13"', 'ui-error', 'code_error'],
  ['an action in no rule', 'page.check: Error: that is a radio', 'ui-error', 'code_error'],
  [
    'a collector out of breath',
    '[9:0x5] 1208 ms: Mark-Compact 2030.2 (2059.4) -> 2027.5 (2080.9) MB',
    'unknown',
    'env_error',
  ],
  ['a browser that did not come up', '[pid=12][err] no display', 'unknown', 'env_error'],
];

describe('texts nobody has seen', () => {
  it.each(unseen)('CS-6 knows %s', (_, text, category, retry) => {
    expect(classify(failing(text))).toMatchObject({ category, retry });
  });

  it.each([
    ['a name in a path', 'Error: /srv/database/schema.txt was read'],
    ['a word without trouble', 'Error: all about the database'],
    ['a word within a name', 'Error: superdatabaseless is missing'],
    ['a word far from the first line', `Error: odd\n${'x\n'.repeat(5)}the database is missing`],
  ])('CS-8 a word that merely occurs decides nothing: %s', (_, text) => {
    expect(classify(failing(text)).category).toBe('unknown');
  });

  it('CS-8 what the first line is about loses to whatever a rule knows', () => {
    const text = `Error: the orders table is missing\n${locatorTimeout}`;
    expect(classify(failing(text)).category).toBe('ui-error');
    const refused = failing('Error: the button is missing', { network: [request()] });
    expect(classify(refused).category).toBe('network-error');
  });
});
