import { z } from 'zod';
import { ConsoleSelection, NetworkSelection } from '../selections.js';
import type { EvidenceLimits } from '../page-evidence.js';
import { parseJson } from '../../parse-json.js';
import type { BoundedLine } from '../../playwright/zip.js';
import { type TraceRequest, resourceFile, parseTraceRequest } from './har-request.js';
import { number, record, text, textOrNull } from './loose.js';
import { addTypedSecrets } from './masked-trace.js';
import { TraceActions } from './trace-actions.js';
import {
  type FrameDom,
  type PageDom,
  DocumentSnapshots,
  frameSnapshot,
  composePage,
  typedValue,
} from './dom.js';

/** The supported trace formats. Other formats are read, too, but with a note that the version is unknown. */
const supportedVersions = [7, 8, 9, 10];

const contextOptions = record({ wallTime: number, monotonicTime: number, origin: text, version: number });
const endTimeLine = record({ endTime: number });
const snapshotLine = record({ snapshot: z.unknown().optional() });
const consoleEvent = record({
  time: number,
  messageType: z.string().catch('log'),
  text,
  location: record({ url: text, lineNumber: number, columnNumber: number }),
});
const pageError = record({
  time: number,
  params: record({
    error: record({
      error: record({ name: text, message: text, stack: textOrNull }).optional(),
      // `throw 'text'` has a value instead of an error.
      value: z.unknown().optional(),
    }),
    location: record({ url: text, line: number, column: number }),
  }),
});
const pageEvent = record({ method: text });
const dialogEvent = record({ time: number, params: record({ type: text, message: text }) });
const screencastFrame = record({ timestamp: number, pageId: text });

/** How many bytes are kept of a console line that is too long to parse. */
const SALVAGE_BYTES = 64 * 1024;
/** A screencast lags a little: a screenshot within this time after an action still shows its result. */
const PICTURE_LATE_MS = 200;
const relevantType =
  /"type":"(before|after|log|error|console|event|resource-snapshot|screencast-frame|frame-snapshot|context-options)"/;

/** Reads the lines of a trace's `.trace` and `.network` entries, those of the test first, and keeps the relevant ones. */
export class TraceReading {
  readonly console: ConsoleSelection;
  readonly network: NetworkSelection<TraceRequest>;
  readonly actions = new TraceActions();
  /** The values typed into secret fields. */
  readonly typed = new Set<string>();
  readonly pages = new TracePages(this.typed);
  unknownVersion: number | null = null;
  /** The number of relevant lines that were too long or incomplete. */
  lostLines = 0;
  /** The time of the last line, in milliseconds since the epoch. */
  lastTime = 0;
  readonly #requests = new Set<string>();
  readonly #frames: { readonly time: number; readonly pageId: string; readonly file: string }[] = [];
  /** Add this to a context's monotonic time to get milliseconds since the epoch. */
  #epoch = 0;
  #isFromTestRunner = false;

  constructor(limits: EvidenceLimits) {
    this.console = new ConsoleSelection(limits.console);
    this.network = new NetworkSelection(limits.network);
  }

  /** The name of the zip entry with the screenshot of the page at the failure, or null. */
  get pictureFile(): string | null {
    const ended = this.actions.findFailingAction()?.endedAt ?? Infinity;
    const pageFrames = this.#frames.filter(({ pageId }) => pageId === this.pages.pageId);
    const frames = pageFrames.length > 0 ? pageFrames : this.#frames;
    const frame = frames.findLast(({ time }) => time <= ended + PICTURE_LATE_MS) ?? frames.at(-1);
    return frame?.file ?? null;
  }

  readonly readLine = (line: BoundedLine): void => {
    const start = line.bytes.toString('latin1', 0, 160);
    const [, type] = relevantType.exec(start) ?? [];
    if (type === undefined) return;
    if (type === 'event' && !/"method":"(?:pageError|dialog)"/.test(start)) return;
    const text = line.isComplete ? line.bytes.toString('utf8') : '';
    if (type === 'frame-snapshot')
      return this.pages.addSnapshot(text, (call) => this.actions.findStepId(call));
    const event = parseJson(text);
    if (event === undefined) this.#keepStartOfLine(line, start);
    else this.#addEvent(type, event);
  };

  #addEvent(type: string, event: unknown): void {
    if (type === 'context-options') this.#readContext(event);
    else if (type === 'console') this.#addConsoleEntry(event);
    else if (type === 'event') this.#addPageEvent(event);
    else if (type === 'resource-snapshot')
      this.#addRequest(parseTraceRequest(snapshotLine.parse(event).snapshot));
    else if (type === 'screencast-frame') this.#addFrame(event);
    else if (type === 'before') this.#addActionStart(event);
    else if (type === 'after') this.#addActionEnd(event);
    else if (type === 'log') this.actions.addLogLine(event);
    else if (type === 'error') this.actions.addError(event);
  }

  #readContext(event: unknown): void {
    const { wallTime, monotonicTime, origin, version } = contextOptions.parse(event);
    this.#epoch = wallTime - monotonicTime;
    const wasFromTestRunner = this.#isFromTestRunner;
    this.#isFromTestRunner = origin === 'testRunner';
    if (!supportedVersions.includes(version)) this.unknownVersion = version;
    // The test's own lines come first, so they have already shown the failing action.
    const failing = wasFromTestRunner ? this.actions.findFailingAction() : null;
    if (failing) this.pages.keepPageAfter(failing.id);
  }

  #addActionStart(event: unknown): void {
    addTypedSecrets(event, this.typed);
    this.actions.addStart(event, { epoch: this.#epoch, isFromTestRunner: this.#isFromTestRunner });
  }

  #addActionEnd(event: unknown): void {
    this.#toEpochMs(endTimeLine.parse(event).endTime);
    // In the trace of a test, the test's step already describes this library call.
    if (this.#isFromTestRunner || !this.actions.hasTestSteps) this.actions.addEnd(event, this.#epoch);
  }

  /** Ignores a repeated request: if tests share a page, each trace repeats the requests of earlier tests. */
  #addRequest(request: TraceRequest): void {
    const key = [request.time, request.durationMs, request.method, request.url].join(' ');
    if (this.#requests.has(key)) return;
    this.#requests.add(key);
    this.network.push(request);
  }

  #addConsoleEntry(event: unknown): void {
    const { time, messageType: type, text, location } = consoleEvent.parse(event);
    const { url, lineNumber, columnNumber } = location;
    const at = formatPosition(url, lineNumber, columnNumber);
    this.console.push({ time: this.#toEpochMs(time), type, text, location: at, stack: null });
  }

  #addPageEvent(event: unknown): void {
    if (pageEvent.parse(event).method === 'dialog') this.#addDialog(event);
    else this.#addPageError(event);
  }

  #addPageError(event: unknown): void {
    const { time, params } = pageError.parse(event);
    const { error, value } = params.error;
    const { url, line, column } = params.location;
    const thrown = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    const text = error === undefined ? thrown : error.message;
    this.console.push({
      time: this.#toEpochMs(time),
      type: 'pageerror',
      text: error?.name && !text.startsWith(error.name) ? `${error.name}: ${text}` : text,
      location: formatPosition(url, line, column),
      stack: error?.stack ?? null,
    });
  }

  /** Adds a dialog to the console. If no step closes the dialog, Playwright closed it, because the test has no handler for it. */
  #addDialog(event: unknown): void {
    const { time: at, params } = dialogEvent.parse(event);
    const time = this.#toEpochMs(at);
    const closing = this.actions.all.find(
      ({ title, startedAt }) => startedAt >= time && /^(?:accept|dismiss) dialog|^dialog\.\w/i.test(title),
    );
    const automaticAction = params.type === 'beforeunload' ? 'accepted' : 'dismissed';
    const how = closing
      ? `closed by the test (${closing.title})`
      : `${automaticAction} by Playwright: the test has no handler for it`;
    const text = `${params.type} ${JSON.stringify(params.message)}, ${how}`;
    this.console.push({ time, type: 'dialog', text, location: '', stack: null });
  }

  #addFrame(event: unknown): void {
    const file = resourceFile.parse(event);
    if (file === null) return;
    const { timestamp, pageId } = screencastFrame.parse(event);
    this.#frames.push({ time: this.#toEpochMs(timestamp), pageId, file });
    // Long tests have tens of thousands of frames.
    if (this.#frames.length > 2_000) this.#frames.splice(0, 1_000);
  }

  /** Keeps the beginning of an overlong console entry; only counts other overlong lines. */
  #keepStartOfLine(line: BoundedLine, start: string): void {
    const head = line.bytes.toString('utf8', 0, SALVAGE_BYTES);
    const text = start.includes('"type":"console"') ? readStringField(head, 'text') : null;
    if (text === null) {
      this.lostLines += 1;
      return;
    }
    const type = readStringField(head, 'messageType') ?? 'log';
    this.console.push({ time: this.lastTime, type, text: `${text}…`, location: '', stack: null });
  }

  #toEpochMs(monotonic: number): number {
    const time = Math.round(this.#epoch + monotonic);
    this.lastTime = Math.max(this.lastTime, time);
    return time;
  }
}

/** Returns the value of a string field in JSON that may be cut off; null if there is no such field. */
function readStringField(json: string, name: string): string | null {
  const start = json.indexOf(`"${name}":"`);
  if (start < 0) return null;
  const [raw = ''] =
    /^(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*/i.exec(json.slice(start + name.length + 4)) ?? [];
  return z
    .string()
    .catch(raw)
    .parse(parseJson(`"${raw}"`));
}

/** Returns `url:line:column`, counted from 1; traces count from 0. */
function formatPosition(url: string, line: number, column: number): string {
  return url === '' ? '' : `${url}:${line + 1}:${column + 1}`;
}

/** How many bytes of one trace's documents are kept in memory, as JSON. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A reference to an unchanged node. A snapshot without references begins a new document. */
const reference = /\[\[\d+,\d+\]\]/;

interface Frame {
  document: DocumentSnapshots;
  bytes: number;
  latest: Omit<FrameDom, 'root'>;
}

/** The pages of a trace, as they were after one action and at the end. */
class TracePages {
  readonly #frames = new Map<string, Frame>();
  readonly #framesAfterAction = new Map<string, FrameDom>();
  #actionId: string | null = null;
  #pageId: string | null = null;
  #bytes = 0;
  readonly #typed: Set<string>;
  /** The number of snapshots that were too large to keep. */
  lostSnapshots = 0;

  /** Adds the values of secret fields to `typed`. */
  constructor(typed: Set<string>) {
    this.#typed = typed;
  }

  /** Keeps the page as it is after this action, given by the id of its step. */
  keepPageAfter(action: string): void {
    this.#actionId = action;
  }

  /** The page of the action, or else the page that changed last. */
  get pageId(): string | null {
    return this.#pageId ?? this.#findLatestMainFrame()?.pageId ?? null;
  }

  /** Adds a `frame-snapshot` line; `findStepId` returns the id of a call's step. */
  addSnapshot(json: string, findStepId: (callId: string) => string): void {
    const line = parseJson(json);
    if (line === undefined) return void (this.lostSnapshots += 1);
    if (json.includes(typedValue)) addTypedSecrets(line, this.#typed);
    const { callId, phase, ...frameInfo } = frameSnapshot.parse(line);
    const knownFrame = this.#frames.get(frameInfo.frameId);
    const isNew = !knownFrame || !reference.test(json);
    const frame = isNew ? { document: new DocumentSnapshots(), bytes: 0, latest: frameInfo } : knownFrame;
    if (isNew) this.#bytes -= knownFrame?.bytes ?? 0;
    frame.latest = frameInfo;
    // Keeps the map ordered by age: the frame that changed last comes last.
    this.#frames.delete(frameInfo.frameId);
    this.#frames.set(frameInfo.frameId, frame);
    const fits = this.#bytes + json.length <= MAX_BYTES;
    if (fits) {
      frame.bytes += json.length;
      this.#bytes += json.length;
    } else this.lostSnapshots += 1;
    frame.document.push(fits ? json : '');
    if (findStepId(callId) !== this.#actionId || !phase.startsWith('after')) return;
    const root = frame.document.resolveLatestSnapshot();
    if (!root) return;
    this.#framesAfterAction.set(frameInfo.frameId, { ...frameInfo, root });
    if (frameInfo.isMainFrame) this.#pageId = frameInfo.pageId;
  }

  /** Returns the page after the failing action, or its last state if that action is unknown or did not end. */
  findPageAtFailure(): PageDom | null {
    const listLastFrames = () =>
      [...this.#frames.values()].flatMap(({ document, latest }) => {
        const root = latest.pageId === this.pageId ? document.resolveLatestSnapshot() : null;
        return root ? [{ ...latest, root }] : [];
      });
    const snapshot = this.#keepFramesOfPage([...this.#framesAfterAction.values()]);
    return composePage(snapshot, this.#typed) ?? composePage(listLastFrames(), this.#typed);
  }

  #keepFramesOfPage(frames: readonly FrameDom[]): FrameDom[] {
    return frames.filter(({ pageId }) => pageId === this.pageId);
  }

  #findLatestMainFrame(): Omit<FrameDom, 'root'> | undefined {
    return [...this.#frames.values()]
      .map(({ latest }) => latest)
      .findLast(({ isMainFrame, url }) => isMainFrame && url !== 'about:blank');
  }
}
