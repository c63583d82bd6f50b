import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/** What requests are checked against. */
export interface Door {
  readonly token: string;
  /** The listening port, known once the server listens. */
  port(): number;
}

const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Sets security headers on every response, including refusals. */
export const setHeaders: MiddlewareHandler = async (c, next) => {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  await next();
};

/**
 * Accepts only requests that come by the printed URL. Another page in the same browser has neither the token nor this origin, and a
 * DNS-rebinding request has another name in `Host`.
 */
export function checkRequest(door: Door): MiddlewareHandler {
  return async (c, next) => {
    const hosts = [`127.0.0.1:${door.port()}`, `localhost:${door.port()}`];
    if (!hosts.includes(c.req.header('host') ?? ''))
      return c.text('Requests to this host are not allowed.', 421);
    const origin = c.req.header('origin');
    const ours = origin !== undefined && hosts.some((host) => origin === `http://${host}`);
    const changes = c.req.method !== 'GET' && c.req.method !== 'HEAD';
    if (!ours && (changes || origin !== undefined))
      return c.text('Requests from this origin are not allowed.', 403);
    if (!hasToken(c, door))
      return c.text('Open the URL that self-heal ui printed: it contains a token.', 401);
    return next();
  };
}

/** The page's later requests send the token as a cookie, which no script can read. */
function hasToken(c: Context, door: Door): boolean {
  // Browsers send cookies to every port of a host, so each `self-heal ui` uses a cookie name of its own.
  const name = `self-heal-ui-${door.port()}`;
  const bearer = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
  if ([getCookie(c, name), bearer].some((given) => isSame(given, door.token))) return true;
  const inUrl = c.req.method === 'GET' && c.req.path === '/' && isSame(c.req.query('token'), door.token);
  // Not a redirect: browsers send no strict cookie after a redirect that started from another site, such as webmail or a web terminal.
  if (inUrl) setCookie(c, name, door.token, { httpOnly: true, sameSite: 'Strict', path: '/' });
  return inUrl;
}

/** Compares hashes, so that the time taken reveals neither the contents nor the lengths. */
function isSame(given: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}
