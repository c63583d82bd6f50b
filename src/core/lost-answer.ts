import type { Evidence } from './evidence.js';
import { splitUrl } from './classify/own-origin.js';

const withoutHeader =
  /'(https?:\/\/[^'\s]{1,2000})' from origin .{1,300} blocked by CORS policy: .{0,200}No 'Access-Control-Allow-Origin'/;

/**
 * Returns the origin whose answer the browser withheld because it had no CORS header, although it gave the page other answers of the same origin:
 * the header is set up, and what has none is usually the error page of a server that failed. Null if there is no such answer.
 */
export function lostAnswerOf({ console, network }: Pick<Evidence, 'console' | 'network'>): string | null {
  const origins = console.flatMap(({ text }) => splitUrl(withoutHeader.exec(text)?.[1] ?? '')?.origin ?? []);
  const isAnswered = (origin: string) =>
    network.some(
      ({ url, status, resourceType }) =>
        status !== null && /^(?:xhr|fetch)$/.test(resourceType) && splitUrl(url)?.origin === origin,
    );
  return origins.find(isAnswered) ?? null;
}
