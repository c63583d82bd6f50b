import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/** What a request must bring. */
export interface Door {
  readonly token: string;
  /** The port that is listened on; known once the server listens. */
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

/** Sets the headers of every response, refusals included. */
export const setHeaders: MiddlewareHandler = async (c, next) => {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  await next();
};

/**
 * Lets in who came by the printed URL: another page of the same browser has neither the token nor this origin, and a name that
 * was rebound to this machine is not in `Host`.
 */
export function checkRequest(door: Door): MiddlewareHandler {
  return async (c, next) => {
    const hosts = [`127.0.0.1:${door.port()}`, `localhost:${door.port()}`];
    if (!hosts.includes(c.req.header('host') ?? '')) return c.text('This host is not served here.', 421);
    const origin = c.req.header('origin');
    const ours = origin !== undefined && hosts.some((host) => origin === `http://${host}`);
    const changes = c.req.method !== 'GET' && c.req.method !== 'HEAD';
    if (!ours && (changes || origin !== undefined))
      return c.text('Requests from this origin are not allowed.', 403);
    if (!hasToken(c, door)) return c.text('Open the URL that self-heal ui printed: it has a token.', 401);
    return next();
  };
}

/** The page's later requests bring the token as a cookie, which no script can read. */
function hasToken(c: Context, door: Door): boolean {
  // Browsers send a cookie to every port of a host: each `self-heal ui` has a name of its own.
  const name = `self-heal-ui-${door.port()}`;
  const bearer = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
  if ([getCookie(c, name), bearer].some((given) => isSame(given, door.token))) return true;
  const inUrl = c.req.method === 'GET' && c.req.path === '/' && isSame(c.req.query('token'), door.token);
  // Not a redirect: a browser sends no strict cookie on one that began in another site, a web mail or terminal.
  if (inUrl) setCookie(c, name, door.token, { httpOnly: true, sameSite: 'Strict', path: '/' });
  return inUrl;
}

/** Hashed, so that the time it takes tells nothing of either, nor of their lengths. */
function isSame(given: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}
