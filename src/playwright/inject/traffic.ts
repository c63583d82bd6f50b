import type { ConsoleMessage, Request, Response, WebError } from '@playwright/test';
import { type NetworkEntry, unanswered } from '../../core/evidence.js';
import { graphQlFailure } from '../../core/graphql-errors.js';
import { isSecretHeader } from '../../secrets/secret-fields.js';
import { isRedirected } from '../../core/turned-away.js';
import { clip } from './clip.js';
import { internalCall } from './internal-call.js';
import { Newest } from '../../newest.js';
import { now } from './now.js';

const maxBody = 16 * 1024;
/** A larger body is not requested at all, since all of it would have to come through the browser's pipe. */
const maxTransfer = 1024 * 1024;
const maxFailedBodies = 100;
const latestBodies = 10;
/** A call of a failing test that has been open for longer than this when the test ends counts as failed. */
const patienceMs = 1000;

/** The members of a request that are used: one of the page, or one that a test sent itself. */
type Sent = Pick<Request, 'method' | 'url' | 'resourceType' | 'headers' | 'postData'>;
/** The members of a response that are used. For a request that a test sent itself, only the response has the full URL. */
type Answer = Pick<Response, 'status' | 'headers' | 'text'> & Partial<Pick<Response, 'url' | 'request'>>;

/** A request as it is kept in memory; details are read only if the try fails. */
interface Exchange {
  readonly request: Sent;
  readonly time: number;
  response: Answer | null;
  durationMs: number | null;
  failure: string | null;
  body: Promise<string | null> | null;
  bodyText: string | null;
}

/** The events of a browser context that are listened to. */
interface ContextEvents {
  console: ConsoleMessage;
  weberror: WebError;
  request: Request;
  response: Response;
  requestfailed: Request;
}
/** Adds a listener for one of these events. */
export type Listen = <E extends keyof ContextEvents>(
  event: E,
  heard: (subject: ContextEvents[E]) => void,
) => void;

/** Receives the outcome of a request. */
interface End {
  answered(response: Answer): void;
  failed(why: string): void;
}

/** The requests of one try. */
export class Traffic {
  readonly #newest: Newest<Exchange>;
  readonly #byRequest = new WeakMap<object, End>();
  #failedBodies = 0;

  constructor(limit: number) {
    this.#newest = new Newest<Exchange>(limit, hasFailed);
  }

  listen(on: Listen): void {
    on('request', (request) => this.#byRequest.set(request, this.sent(request)));
    on('response', (response) => this.#byRequest.get(response.request())?.answered(response));
    on('requestfailed', (request) =>
      this.#byRequest.get(request)?.failed(request.failure()?.errorText ?? 'failed'),
    );
  }

  /** Records a request and returns what its outcome is reported to. */
  sent(request: Sent): End {
    const exchange: Exchange = {
      request,
      time: now(),
      response: null,
      durationMs: null,
      failure: null,
      body: null,
      bodyText: null,
    };
    this.#newest.push(exchange);
    return {
      answered: (response) => this.#answered(exchange, response),
      failed: (why) => {
        exchange.failure = why;
      },
    };
  }

  /** Requests the bodies of the page's latest calls while the page is still open. */
  async readLatestBodies(): Promise<void> {
    const calls = this.#newest.entries().filter(isCall).slice(-latestBodies);
    await Promise.all(calls.map((exchange) => (exchange.body ??= readBody(exchange))));
  }

  /** Resolves once every requested body has arrived or has failed. */
  async bodiesRead(): Promise<void> {
    await Promise.all(this.#newest.entries().flatMap(({ body }) => (body ? [body] : [])));
  }

  /** Returns the scripts that were received: a lookup of responses by URL, and the URLs, newest first. */
  scripts(): { responseOf: (url: string) => Pick<Response, 'headers' | 'text'> | null; latest: string[] } {
    const came = this.#newest
      .entries()
      .filter(({ request, response }) => response !== null && request.resourceType() === 'script')
      .map(({ request, response }) => [request.url().replace(/#.*$/, ''), response] as const);
    const byUrl = new Map(came);
    return { responseOf: (url) => byUrl.get(url) ?? null, latest: [...byUrl.keys()].toReversed() };
  }

  /** Returns all requests of a test that ended at this time. */
  entries(endedAt: number): NetworkEntry[] {
    const isUnanswered = (exchange: Exchange) => isOpen(exchange) && endedAt - exchange.time > patienceMs;
    return this.#newest.entries().map((exchange) => entryOf(exchange, isUnanswered));
  }

  /**
   * Returns the requests that failed, were answered with an error status, or have no answer yet, as those of an app that polls, and pages
   * that were redirected.
   */
  complaints(): NetworkEntry[] {
    const isSentOn = ({ request, response }: Exchange) =>
      isRedirected({ resourceType: request.resourceType(), status: response?.status() ?? null });
    return this.#newest
      .entries()
      .filter((exchange) => hasFailed(exchange) || isOpen(exchange) || isSentOn(exchange))
      .map((exchange) => entryOf(exchange, isOpen));
  }

  get dropped(): number {
    return this.#newest.dropped;
  }

  #answered(exchange: Exchange, response: Answer): void {
    exchange.response = response;
    exchange.durationMs = now() - exchange.time;
    // Reads the body now, since the browser drops it when the page navigates. Missing pictures and scripts have no useful
    // body, and only the body says whether a GraphQL operation failed.
    const mayHaveFailed =
      response.status() >= 400 ? isDocument(exchange) || isCall(exchange) : isGraphQl(exchange);
    if (!mayHaveFailed) return;
    this.#failedBodies += 1;
    if (this.#failedBodies <= maxFailedBodies) exchange.body = readBody(exchange);
  }
}

function hasFailed(exchange: Exchange): boolean {
  const { failure, response } = exchange;
  if (failure !== null || (response !== null && response.status() >= 400)) return true;
  return isPageForScript(exchange) || graphQlFailureOf(exchange) !== null;
}

/** Whether a call goes to an endpoint that is named after GraphQL, as nearly all are. */
function isGraphQl(exchange: Exchange): boolean {
  return isCall(exchange) && /graphql|gql/i.test(exchange.request.url());
}

function graphQlFailureOf(exchange: Exchange): string | null {
  const { response, bodyText } = exchange;
  return response && isCall(exchange) ? graphQlFailure(response.status(), bodyText) : null;
}

/** Whether the page, or the test itself, is waiting for this answer. */
function isOpen(exchange: Exchange): boolean {
  const { response, failure } = exchange;
  return response === null && failure === null && (isCall(exchange) || isDocument(exchange));
}

/** Whether the server answered with a page where a script was asked for, as single-page apps do for any unknown address. */
function isPageForScript({ request, response }: Exchange): boolean {
  return (
    response !== null &&
    response.status() < 300 &&
    request.resourceType() === 'script' &&
    /^text\/html\b/i.test(response.headers()['content-type'] ?? '')
  );
}

function isCall({ request }: Exchange): boolean {
  return ['fetch', 'xhr', 'api'].includes(request.resourceType());
}

function isDocument({ request }: Exchange): boolean {
  return request.resourceType() === 'document';
}

/** Never rejects: a body that cannot be read is null. */
async function readBody(exchange: Exchange): Promise<string | null> {
  const { response, request } = exchange;
  try {
    if (!response || !isText(response)) return null;
    const size = await internalCall(request, () => sizeOf(response));
    if (size > maxTransfer) exchange.bodyText = `(a body of ${size} bytes, which was not read)`;
    else exchange.bodyText = clip(await internalCall(response, () => response.text()), maxBody);
  } catch {
    // The page is gone, or the response is a redirect or a stream.
  }
  return exchange.bodyText;
}

async function sizeOf(response: Answer): Promise<number> {
  const stated = Number(response.headers()['content-length'] ?? Number.NaN);
  return Number.isNaN(stated) ? ((await response.request?.().sizes())?.responseBodySize ?? 0) : stated;
}

function isText(response: Answer): boolean {
  const type = response.headers()['content-type'] ?? '';
  return type === '' || /^text\/(?!event-stream)|json|xml|javascript|urlencoded|graphql/i.test(type);
}

function entryOf(exchange: Exchange, isUnanswered: (exchange: Exchange) => boolean): NetworkEntry {
  const { request, response, time, durationMs, bodyText } = exchange;
  const isLost = isPageForScript(exchange);
  const within = isLost
    ? `${response?.status()} with text/html in place of a script`
    : graphQlFailureOf(exchange);
  const failure = within ?? (isUnanswered(exchange) ? unanswered : exchange.failure);
  return {
    time,
    method: request.method(),
    url: (response?.url?.() ?? request.url()).slice(0, maxBody),
    resourceType: request.resourceType(),
    status: within === null ? (response?.status() ?? null) : null,
    durationMs,
    failure,
    requestHeaders: maskedHeaders(request.headers()),
    responseHeaders: response ? maskedHeaders(response.headers()) : {},
    requestBody: hasFailed(exchange) || isCall(exchange) ? sentBody(request) : null,
    responseBody: bodyText,
  };
}

function sentBody(request: Sent): string | null {
  try {
    const text = request.postData();
    return text === null ? null : clip(text, maxBody);
  } catch {
    return '(not text)';
  }
}

/** Headers that hold secrets keep their name and lose their value. */
function maskedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? '[masked: header]' : value]),
  );
}
