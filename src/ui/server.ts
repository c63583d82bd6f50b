import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Clock } from '../clock.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { checkRequest, setHeaders } from './check-request.js';
import { type EscalationDesk, escalationRoutes } from './escalation-routes.js';
import { eventStream } from './event-stream.js';
import { ownFile } from '../own-files.js';
import { runIdsIn } from '../run/find-run.js';
import { readPicture } from '../run/pictures.js';
import { runDirOf } from '../run/run-folder.js';

/** What to serve, and how. */
export interface UiOptions {
  readonly projectRoot: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly token: string;
  readonly desk: EscalationDesk;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** A listening server. */
export interface UiServer {
  /** Includes the token: whoever has the URL can view the runs and answer escalations. */
  readonly url: string;
  /** Closes the server and every stream. */
  close(): Promise<void>;
}

/** Serves the page on the loopback interface only (RP-5). A port that cannot be used is a `Problem`. */
export async function startUi(options: UiOptions): Promise<Result<UiServer, Problem>> {
  const closing = new AbortController();
  let port = 0;
  const app = appOf({ ...options, closing: closing.signal, listensOn: () => port }, await readPageFiles());
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  const problem = await listening(server, options.port);
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
  readonly listensOn: () => number;
}

function appOf(options: AppOptions, files: ReadonlyMap<string, PageFile>): Hono {
  const { projectRoot, token, desk, listensOn } = options;
  const app = new Hono();
  app.use(setHeaders, checkRequest({ token, port: listensOn }));
  app.get('/api/events', (c) => eventStream(c, options));
  app.route('/api/escalations', escalationRoutes(desk));
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

async function listening(server: Server, port: number): Promise<Problem | null> {
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

/** A file of the page. */
interface PageFile {
  readonly text: string;
  readonly type: string;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the page's files once, by name. Requests look names up here and never become paths. */
async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = ownFile('ui/page');
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = types[path.extname(name)];
    if (type) files.set(name, { text: await readFile(path.join(folder, name), 'utf8'), type });
  }
  // The page and the report share one style sheet, as they share the renderer of results.
  const report = await readFile(ownFile('outputs/html/report.css'), 'utf8');
  return files.set('report.css', { text: report, type: types['.css'] ?? '' });
}

/** Returns a screenshot with its type; null for anything but a screenshot of one of the project's runs. */
async function readScreenshot(
  projectRoot: string,
  { runId, n, name }: { readonly runId: string; readonly n: string; readonly name: string },
): Promise<{ bytes: Buffer; type: string } | null> {
  const isThere = /^[1-9]\d{0,5}$/.test(n) && (await runIdsIn(projectRoot)).includes(runId);
  return isThere ? readPicture(runDirOf(projectRoot, runId), { n: Number(n), name }) : null;
}
