import type { AddressInfo } from 'node:net';
import { type Server, createServer } from 'node:http';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { type Context, type MiddlewareHandler, Hono } from 'hono';
import type { Clock } from '../../clock.js';
import type { Problem } from '../../problem.js';
import { type Result, err, ok } from '../../result.js';
import { type PageEscalations, createEscalationRoutes } from './questions.js';
import { streamEvents } from './event-stream.js';
import { ownFile } from '../../own-files.js';
import { listRunIds } from '../../run/find-run.js';
import { readPicture } from '../../run/pictures.js';
import { findRunDir } from '../../run/run-folder.js';
import { createHash, timingSafeEqual } from 'node:crypto';
import { getCookie, setCookie } from 'hono/cookie';

export interface UiOptions {
  readonly projectRoot: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly token: string;
  readonly escalations: PageEscalations;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

interface UiServer {
  /** Includes the token: everybody with this URL can view the runs and answer escalations. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the page on the loopback interface only (RP-5). A port that cannot be used is a `Problem`. */
export async function startUi(options: UiOptions): Promise<Result<UiServer, Problem>> {
  const closing = new AbortController();
  let port = 0;
  const app = createApp({ ...options, closing: closing.signal, getPort: () => port }, await readPageFiles());
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  const problem = await listen(server, options.port);
  if (problem) return err(problem);
  port = (server.address() as AddressInfo).port;
  const close = async () => {
    closing.abort();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return ok({ url: `http://127.0.0.1:${port}/?token=${options.token}`, close });
}

interface AppOptions extends UiOptions {
  readonly closing: AbortSignal;
  readonly getPort: () => number;
}

function createApp(options: AppOptions, files: ReadonlyMap<string, PageFile>): Hono {
  const { projectRoot, token, escalations, getPort } = options;
  const app = new Hono();
  app.use(setHeaders, checkRequest({ token, getPort: getPort }));
  app.get('/api/events', (c) => streamEvents(c, options));
  app.route('/api/escalations', createEscalationRoutes(escalations));
  app.get('/runs/:runId/failures/:n/:name', async (c) => {
    const picture = await readScreenshot(projectRoot, c.req.param());
    return picture
      ? c.body(new Uint8Array(picture.bytes), 200, { 'Content-Type': picture.type })
      : c.notFound();
  });
  app.get('/:name?', (c) => {
    const file = files.get(c.req.param('name') ?? 'index.html');
    return file ? c.body(file.text, 200, { 'Content-Type': file.type }) : c.notFound();
  });
  app.notFound((c) => c.text('Not found.', 404));
  return app;
}

async function listen(server: Server, port: number): Promise<Problem | null> {
  return new Promise((resolve) => {
    server.once('error', (error) =>
      resolve({
        kind: 'usage',
        message: `Cannot listen on port ${port} of 127.0.0.1`,
        detail: error.message,
        remedy: 'Omit --port to use any free port.',
      }),
    );
    server.listen(port, '127.0.0.1', () => resolve(null));
  });
}

interface PageFile {
  readonly text: string;
  readonly type: string;
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the page's files once, by name, so that no request becomes a path. */
async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = ownFile('clients/ui/page');
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = contentTypes[path.extname(name)];
    if (type) files.set(name, { text: await readFile(path.join(folder, name), 'utf8'), type });
  }
  // The live page and the report share their style sheet and their renderer.
  const sheet = await readFile(ownFile('outputs/html/page.css'), 'utf8');
  return files.set('page.css', { text: sheet, type: contentTypes['.css'] ?? '' });
}

/** Returns a screenshot with its type; null for anything but a screenshot of one of the project's runs. */
async function readScreenshot(
  projectRoot: string,
  { runId, n, name }: { readonly runId: string; readonly n: string; readonly name: string },
): Promise<{ bytes: Buffer; type: string } | null> {
  const isKnown = /^[1-9]\d{0,5}$/.test(n) && (await listRunIds(projectRoot)).includes(runId);
  return isKnown ? readPicture(findRunDir(projectRoot, runId), { n: Number(n), name }) : null;
}

/** The token and the port against which requests are checked. */
interface Access {
  readonly token: string;
  /** The listening port, known once the server listens. */
  getPort(): number;
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
const setHeaders: MiddlewareHandler = async (c, next) => {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  await next();
};

/**
 * Accepts only requests from the printed URL. Another page in the same browser has neither the token nor this origin, and a DNS-rebinding request has a
 * different name in `Host`.
 */
function checkRequest(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const hosts = [`127.0.0.1:${access.getPort()}`, `localhost:${access.getPort()}`];
    if (!hosts.includes(c.req.header('host') ?? ''))
      return c.text('Requests to this host are not allowed.', 421);
    const origin = c.req.header('origin');
    const isOwnOrigin = hosts.some((host) => origin === `http://${host}`);
    const isWriting = c.req.method !== 'GET' && c.req.method !== 'HEAD';
    if (!isOwnOrigin && (isWriting || origin !== undefined))
      return c.text('Requests from this origin are not allowed.', 403);
    if (!hasToken(c, access))
      return c.text('Open the URL that self-heal ui printed: it contains a token.', 401);
    return next();
  };
}

/** The page's later requests send the token as a cookie, which no script can read. */
function hasToken(c: Context, access: Access): boolean {
  // Browsers send cookies to every port of a host, so each `self-heal ui` uses a cookie name of its own.
  const name = `self-heal-ui-${access.getPort()}`;
  const bearer = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
  if ([getCookie(c, name), bearer].some((candidate) => matchesToken(candidate, access.token))) return true;
  const isTokenInUrl =
    c.req.method === 'GET' && c.req.path === '/' && matchesToken(c.req.query('token'), access.token);
  // Not a redirect: browsers send no strict cookie after a redirect that started from another site, such as webmail or a web terminal.
  if (isTokenInUrl) setCookie(c, name, access.token, { httpOnly: true, sameSite: 'Strict', path: '/' });
  return isTokenInUrl;
}

/** Compares hashes, because the duration must reveal neither contents nor lengths. */
function matchesToken(candidate: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return candidate !== undefined && timingSafeEqual(hash(candidate), hash(token));
}
