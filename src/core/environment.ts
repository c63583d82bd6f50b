import type { DiagnosedFailure } from './cause.js';
import { ownOrigin } from './classify/own-origin.js';
import type { Evidence } from './evidence.js';

/** From this many failures on, refused connections count as a failure of the environment (HL-7). */
const many = 3;
const refused =
  /(?:ERR_CONNECTION_REFUSED|NS_ERROR_CONNECTION_REFUSED|Could not connect to server|ECONNREFUSED)/;
const address = /(https?:\/\/[^\s"'/)]{1,260})/;
const hostAndPort = /ECONNREFUSED ((?:\d{1,3}\.){3}\d{1,3}|[\da-f:]{2,40}|[\w.-]{1,200}):(\d{2,5})/i;

/** Returns the origin that refused connections in this failure, or null if there is none or the server's output says why. */
export function deadServer({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'network-error' || diagnosis.why.some(({ source }) => source === 'server'))
    return null;
  const line = evidence.errors.map(({ message }) => message).find((message) => refused.test(message));
  if (line === undefined) return refusedRequest(evidence);
  return originIn(line);
}

/** Playwright's messages about a browser that is not installed. */
export const missingBrowser =
  /Executable doesn't exist at|Chromium distribution '[^']*' is not found|because executable doesn't exist at/;

/** What a test lacks that only a person can provide, and how. */
const lacks: readonly (readonly [RegExp, string])[] = [
  [
    missingBrowser,
    'its browser was not found: run `playwright install`, or correct `executablePath` in the Playwright config',
  ],
  [
    // An agent would accept what the test shows now, whatever it is.
    /^Error: A snapshot doesn't exist at /,
    'its snapshot does not exist: run `playwright test` once, and commit the file that it writes if it shows what it should',
  ],
];

/** Playwright's reasons not to run any test that no change of the app removes, and what a person can do about them. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [
    /not allowed due to the 'forbidOnly' option|focused with '\.only' is not allowed/,
    'the config forbids `.only`: remove it from the test',
  ],
  [/^Error: duplicate test title "/, 'two tests of a file have the same title: rename one of them'],
  [
    /is already used, make sure that nothing is running on the port/,
    'another program already listens where a web server of the config should: stop it',
  ],
  [/^Error: (?:ENOSPC: no space left|EDQUOT: )/, 'the disk is full: free some space'],
  [
    /^Error: E[A-Z]+: .*[\\/]playwright-transform-cache/,
    'Playwright cannot write its temporary files: make their folder writable, or set TMPDIR to another one',
  ],
];

function refusalOf({ failure, evidence }: DiagnosedFailure): string | null {
  if (failure.scope !== 'suite') return null;
  const found = refusals.find(([message]) => evidence.errors.some((error) => message.test(error.message)));
  return found?.[1] ?? null;
}

/**
 * Returns why no agent can help with these failures of one cause (HL-7): their browser or snapshot does not exist, Playwright refuses to run any
 * test, they passed although they are marked with `test.fail()`, or many of them failed on the same dead server.
 * Returns null otherwise.
 */
export function environmentOf(members: readonly DiagnosedFailure[]): string | null {
  const lack = lacks.find(([said]) =>
    members.every(({ evidence }) => evidence.errors.some(({ message }) => said.test(message))),
  );
  if (lack) return lack[1];
  const [refusal] = members.map(refusalOf);
  if (refusal) return refusal;
  // The mark may go only by a person's hand: an agent could turn the test green only by breaking the app.
  if (members.every(({ failure }) => failure.scope === 'test' && failure.status === 'passed'))
    return 'it passes although it is marked to fail: if what it tests works now, remove its `test.fail`';
  const origins = new Set(members.map(deadServer));
  const [origin] = origins;
  if (origins.size !== 1 || !origin || members.length < many) return null;
  return `${origin} refuses connections: ${members.length} tests failed the same way, and the evidence does not say why`;
}

/** Returns the origin of the app's own request that was refused; a request to another site says nothing about the app's servers. */
function refusedRequest(evidence: Evidence): string | null {
  const own = ownOrigin(evidence);
  const request = evidence.network.find(
    ({ failure, url }) => failure !== null && refused.test(failure) && own(url),
  );
  return request ? (address.exec(request.url)?.[1] ?? null) : null;
}

function originIn(message: string): string | null {
  const from = message.search(refused);
  const url = address.exec(message.slice(from))?.[1] ?? address.exec(message)?.[1];
  if (url) return url;
  const [, host, port] = hostAndPort.exec(message) ?? [];
  return host && port ? `http://${host.includes(':') ? `[${host}]` : host}:${port}` : null;
}
