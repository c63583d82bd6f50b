import type { Reason } from '../model/diagnosis.js';
import type { Evidence, NetworkEntry } from '../model/evidence.js';
import { createOwnUrlCheck, splitUrl } from '../urls.js';
import { findDecidingService, adviseOnService } from './services.js';
import { isNamedByApp, hasUnreachableHost } from './unreachable-host.js';

/** Playwright's messages about a browser that is not installed. */
export const missingBrowser =
  /Executable doesn't exist at|Chromium distribution '[^']*' is not found|because executable doesn't exist at/;

/** Messages about an occupied port, of Playwright, runtimes, servers and containers; the first matched group is the port. */
const occupiedPort =
  /:\/\/[^\s/]{1,200}?:(\d{2,5})\S{0,200} is already used, make sure that nothing is running|(?:EADDRINUSE|[Aa]ddress already in use).{0,80}?[:( ](\d{2,5})(?![\d.])|\b[Pp]ort (\d{2,5}) (?:is |was )?(?:already |currently )?(?:in use|used|allocated|occupied|being used|unavailable|not available|taken)|:(\d{2,5})[^\d\n]{0,20}: (?:bind: )?(?:address already in use|port is already allocated)|\b(?:EADDRINUSE|[Aa]ddress already in use)|is already used, make sure that nothing is running/;

/** Programs that package managers such as npm do not install. */
const programs =
  'docker|docker-compose|podman|java|javac|mvn|mvnw|gradle|gradlew|python[\\d.]*|pip[\\d.]*|pipenv|poetry|uv|uvicorn|gunicorn|flask|ruby|bundle|bundler|rails|rake|php|composer|symfony|go|air|cargo|rustc|dotnet|node|npm|npx|pnpm|yarn|bun|bunx|deno|corepack|mix|elixir|make|psql|pg_ctl|pg_isready|mysql|mongod|redis-server|supabase|firebase|gcloud|aws|kubectl|hugo|jekyll|nginx|caddy|mkcert|sqlite3|git|curl|xvfb-run';
const missingProgram = new RegExp(
  String.raw`(?:^|[\s:'"])(?:\S{0,80}/)?(${programs}): (?:command |No such file|.{0,20})?not found\b|command not found: (${programs})\b|'(${programs})' is not recognized|\bspawn (?:\S{0,80}/)?(${programs}) ENOENT|exec: "(${programs})": executable file not found|\bno such command:? ['"\x60]?(${programs})\b|env: ['‘\x60]?(${programs})['’]?: No such file`,
  'm',
);

type Advice = readonly [RegExp, (match: RegExpExecArray) => string];

/** Advice on things that any test may need on the machine, even if it opens no page. */
const testAdvice: readonly Advice[] = [
  [
    missingBrowser,
    () =>
      'its browser was not found: run `playwright install`, or correct `executablePath` in the Playwright config',
  ],
  [
    // An agent would accept whatever the page shows now.
    /^Error: A snapshot doesn't exist at /,
    () =>
      'its snapshot does not exist: run `playwright test` once, check the file that it writes, and commit it',
  ],
];

/** Advice on errors that stop the whole suite, and need a person or a change to the machine. */
const suiteAdvice: readonly Advice[] = [
  [
    /not allowed due to the 'forbidOnly' option|focused with '\.only' is not allowed/,
    () => 'the config forbids `.only`: remove it from the test',
  ],
  [/^Error: duplicate test title "/, () => 'two tests of a file have the same title: rename one of them'],
  [
    occupiedPort,
    (match) => {
      const port = match.slice(1).find(Boolean);
      return `another program already uses ${port ? `port ${port}` : 'the port'} of a web server in the Playwright config: stop it`;
    },
  ],
  [
    /^Error: (?:ENOSPC: no space left|EDQUOT: )|\bno space left on device\b/,
    () => 'the disk is full: free some space',
  ],
  [
    /^Error: E[A-Z]+: .*[\\/]playwright-transform-cache/,
    () =>
      'Playwright cannot write its temporary files: make their folder writable, or set TMPDIR to another one',
  ],
  [
    /unknown command: docker compose|'compose' is not a docker command|unknown shorthand flag: 'f' in -f/,
    () => 'Docker is installed without Compose: install its Compose plugin',
  ],
  [
    /docker daemon|\bdockerd?\b.{0,80}(?:pipe|socket|not running|is the docker)|container runtime.{0,40}(?:not|could)/i,
    () => 'Docker is not running, or not accessible: start it',
  ],
  [
    /\b[Nn]o such container:? (\S{1,80})|dependency failed to start: container (\S{1,80})/,
    (match) => `the container ${match[1] ?? match[2]} is not running: start it, and see its log if it ends`,
  ],
  [
    missingProgram,
    (match) =>
      `the program ${match.slice(1).find(Boolean)} is missing on this machine, or not on its PATH: install it`,
  ],
  [
    /(?:\brequires?|\bneeds?|\bexpected|\bspecified|\bwanted|incompatible|[Uu]nsupported engine|\bdoes not satisfy|\bis not supported)\b.{0,80}\b(?:Node(?:\.js)?|Ruby|Python|PHP|Java|JDK|Go|\.NET|Deno|Bun|pnpm|npm|yarn)\b.{0,20}\d|\b(?:Node(?:\.js)?|Ruby|Python|PHP|Java|JDK|Go|\.NET|Deno|Bun) (?:version )?(?:is )?v?\d[\d.]{0,20}\b.{0,120}(?:\brequires?|required|\bneeds?|specified|upgrade)\b|The engine "\w{1,20}" is incompatible|Your Ruby version is|UnsupportedClassVersionError|invalid (?:target|source) release: \d|ERR_PNPM_UNSUPPORTED_ENGINE|\bEBADENGINE\b/,
    (match) =>
      `this machine has a different version than the project needs: ${match.input.trim().slice(0, 160)}`,
  ],
];

/**
 * Returns the advice for a failure that only a person can resolve on the machine (HL-7), or null. Reads Playwright's errors and the deciding
 * lines of a server. For a test with a page, only `testAdvice` and unreachable hosts and services count.
 */
export function findAdviceForPerson(evidence: Evidence, why: readonly Reason[]): string | null {
  const { errors, pageUrl, network } = evidence;
  const hasPage = pageUrl !== null || network.length > 0;
  const service = findDecidingService(evidence, why);
  const messages = errors.map(({ message }) => message.slice(0, 2_000));
  const serverLines = why.filter(({ source }) => source === 'server').map(({ evidence }) => evidence);
  return (
    findAdvice(testAdvice, messages) ??
    (hasPage
      ? adviseOnUnreachableHost(evidence, why)
      : findAdvice(suiteAdvice, [...messages, ...serverLines])) ??
    (service && adviseOnService(service))
  );
}

/** Returns the advice if the deciding reason is that the machine cannot reach another site. */
function adviseOnUnreachableHost(evidence: Evidence, why: readonly Reason[]): string | null {
  const request = findDecidingUnreachableRequest(evidence, why);
  return request && !isNamedByApp(request, evidence, createOwnUrlCheck(evidence))
    ? `this machine cannot reach ${splitUrl(request.url)?.origin ?? request.url} (${request.failure}): give it network access, or mock the host in the tests (page.route)`
    : null;
}

/** Returns the deciding request if the machine could not reach its host. */
export function findDecidingUnreachableRequest(
  evidence: Evidence,
  [decidingReason]: readonly Reason[],
): NetworkEntry | null {
  if (decidingReason?.category !== 'network-error') return null;
  const isOwnUrl = createOwnUrlCheck(evidence);
  const unreached = evidence.network.filter((entry) => hasUnreachableHost(entry, isOwnUrl));
  return (
    unreached.find(({ url }) => decidingReason.evidence.includes(url.slice(0, 200))) ??
    (decidingReason.rule === 'network/fetch' && unreached.length === 1 ? unreached[0] : undefined) ??
    null
  );
}

function findAdvice(advices: readonly Advice[], texts: readonly string[]): string | null {
  for (const text of texts)
    for (const [pattern, advice] of advices) {
      const match = pattern.exec(text);
      if (match) return advice(match);
    }
  return null;
}

/** Returns the occupied port that a failure names, or null. */
export function findOccupiedPort(
  { errors }: Pick<Evidence, 'errors'>,
  why: readonly Reason[],
): number | null {
  const texts = [...errors.map(({ message }) => message), ...why.map(({ evidence }) => evidence)];
  const port = texts.map((text) => occupiedPort.exec(text)?.slice(1).find(Boolean)).find(Boolean);
  return port === undefined ? null : Number(port);
}
