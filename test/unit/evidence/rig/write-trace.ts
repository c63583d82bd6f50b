import { join } from 'node:path';
import type { ConsoleEntry, NetworkEntry } from '../../../../src/model/evidence.js';
import type { Attachment } from '../../../../src/model/failure.js';
import { writeZip } from './write-zip.js';

/** What a written trace has: any of it may be left out. */
export interface TraceParts {
  readonly console?: readonly ConsoleEntry[];
  readonly network?: readonly NetworkEntry[];
  /** The page: its address, and its body as a trace has it. */
  readonly page?: { readonly url: string; readonly body: readonly unknown[] };
  readonly picture?: Buffer;
}

/** Writes a trace of format 10 in which times are milliseconds since the epoch; returns it as Playwright attaches it. */
export function writeTrace(
  folder: string,
  { console = [], network = [], page, picture }: TraceParts,
): Attachment {
  const path = join(folder, 'trace.zip');
  const bodies: Record<string, string> = {};
  const body = (text: string | null) => {
    if (text === null) return {};
    const name = `resources/${Object.keys(bodies).length}`;
    bodies[name] = text;
    return { _file: name };
  };
  const lines = [
    { version: 10, type: 'context-options', origin: 'library', wallTime: 0, monotonicTime: 0 },
    ...console.map(consoleLine),
    ...(page ? [pageLine(page)] : []),
    ...(picture ? [{ type: 'screencast-frame', pageId: 'p', file: 'screencast/1.png', timestamp: 1 }] : []),
  ];
  const requests = network.map((request) => ({
    type: 'resource-snapshot',
    snapshot: requestOf(request, body),
  }));
  writeZip(path, {
    '0-trace.trace': lines.map((line) => JSON.stringify(line)).join('\n'),
    '0-trace.network': requests.map((line) => JSON.stringify(line)).join('\n'),
    ...(picture ? { 'screencast/1.png': picture } : {}),
    ...bodies,
  });
  return { name: 'trace', contentType: 'application/zip', path };
}

function consoleLine({ time, type, text, location, stack }: ConsoleEntry) {
  const [, url = location, line = 1, column = 1] = /^(.*):(\d+):(\d+)$/s.exec(location) ?? [];
  if (type === 'pageerror')
    return {
      type: 'event',
      time,
      method: 'pageError',
      params: { error: { error: { message: text, stack } } },
    };
  const at = { url, lineNumber: Number(line) - 1, columnNumber: Number(column) - 1 };
  return { type: 'console', messageType: type, text, args: [], location: at, time };
}

function pageLine({ url, body }: NonNullable<TraceParts['page']>) {
  const html = ['HTML', {}, ['HEAD', {}], ['BODY', {}, ...body]];
  const snapshot = {
    callId: 'c',
    phase: 'after',
    pageId: 'p',
    frameId: 'f',
    frameUrl: url,
    html,
    isMainFrame: true,
  };
  return { type: 'frame-snapshot', snapshot };
}

function requestOf(entry: NetworkEntry, body: (text: string | null) => object) {
  const headers = (of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([name, value]) => ({ name, value }));
  return {
    startedDateTime: new Date(entry.time).toISOString(),
    time: entry.durationMs ?? -1,
    request: {
      method: entry.method,
      url: entry.url,
      headers: headers(entry.requestHeaders),
      ...(entry.requestBody === null ? {} : { postData: body(entry.requestBody) }),
    },
    response: {
      status: entry.status ?? -1,
      headers: headers(entry.responseHeaders),
      content: body(entry.responseBody),
      ...(entry.failure === null ? {} : { _failureText: entry.failure }),
    },
    _resourceType: entry.resourceType,
  };
}
