import { z } from 'zod';
import { ConsoleSelection, NetworkSelection } from '../selections.js';
import type { EvidenceLimits } from '../page-evidence.js';
import { jsonOf } from '../../json-of.js';
import type { BoundedLine } from '../../playwright/zip.js';
import { type TraceRequest, resourceFile, traceRequestOf } from './har-request.js';
import { number, record, text, looseText } from './loose.js';
import { addTyped } from './masked-trace.js';
import { TraceActions } from './trace-actions.js';
import { type FrameDom, type PageDom, DocumentSnapshots, frameSnapshot, pageOf, typedValue } from './dom.js';

/** The supported trace formats. Others are read as well, but reported as unknown. */
const knownVersions = [7, 8, 9, 10];

const contextOptions = record({ wallTime: number, monotonicTime: number, origin: text, version: number });
const ended = record({ endTime: number });
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
      error: record({ name: text, message: text, stack: looseText }).optional(),
      // `throw 'text'` has a value instead of an error.
      value: z.unknown().optional(),
    }),
    location: record({ url: text, line: number, column: number }),
  }),
});
const pageEvent = record({ method: text });
const dialogEvent = record({ time: number, params: record({ type: text, message: text }) });
const screencastFrame = record({ timestamp: number, pageId: text });

/** How much is kept of a console line that is too long to parse. */
const salvageBytes = 64 * 1024;
/** How long after the end of an action a picture still shows how it ended: the screencast is a little late. */
const pictureLateMs = 200;
const wanted =
  /"type":"(before|after|log|error|console|event|resource-snapshot|screencast-frame|frame-snapshot|context-options)"/;

/**
 * Takes the lines of a trace's `.trace` and `.network` entries, those of the test first, and keeps what matters.
 */
export class TraceReading {
  readonly console: ConsoleSelection;
  readonly network: NetworkSelection<TraceRequest>;
  readonly actions = new TraceActions();
  /** What was typed into fields for secrets. */
  readonly typed = new Set<string>();
  readonly pages = new TracePages(this.typed);
  unknownVersion: number | null = null;
  /** The number of relevant lines that were too long or incomplete. */
  lostLines = 0;
  /** The time of the last line, in milliseconds since the epoch. */
  lastTime = 0;
  readonly #requests = new Set<string>();
  readonly #frames: { readonly time: number; readonly pageId: string; readonly file: string }[] = [];
  /** Converts a context's monotonic time to milliseconds since the epoch when added to it. */
  #epoch = 0;
  #isOfTest = false;

  constructor(limits: EvidenceLimits) {
    this.console = new ConsoleSelection(limits.console);
    this.network = new NetworkSelection(limits.network);
  }

  /** The name of the entry with the picture of the page at the failure, or null. */
  get pictureFile(): string | null {
    const ended = this.actions.failing()?.endedAt ?? Infinity;
    const ofPage = this.#frames.filter(({ pageId }) => pageId === this.pages.pageId);
    const frames = ofPage.length > 0 ? ofPage : this.#frames;
    const frame = frames.findLast(({ time }) => time <= ended + pictureLateMs) ?? frames.at(-1);
    return frame?.file ?? null;
  }

  /** Takes one line. */
  readonly take = (line: BoundedLine): void => {
    const start = line.bytes.toString('latin1', 0, 160);
    const [, type] = wanted.exec(start) ?? [];
    if (type === undefined) return;
    if (type === 'event' && !/"method":"(?:pageError|dialog)"/.test(start)) return;
    const text = line.isComplete ? line.bytes.toString('utf8') : '';
    if (type === 'frame-snapshot') return this.pages.take(text, (call) => this.actions.stepOf(call));
    const event = jsonOf(text);
    if (event === undefined) this.#salvage(line, start);
    else this.#takeEvent(type, event);
  };

  #takeEvent(type: string, event: unknown): void {
    if (type === 'context-options') this.#takeContext(event);
    else if (type === 'console') this.#takeConsole(event);
    else if (type === 'event') this.#takePageEvent(event);
    else if (type === 'resource-snapshot')
      this.#takeRequest(traceRequestOf(snapshotLine.parse(event).snapshot));
    else if (type === 'screencast-frame') this.#takeFrame(event);
    else if (type === 'before') this.#takeBeginning(event);
    else if (type === 'after') this.#takeEnd(event);
    else if (type === 'log') this.actions.log(event);
    else if (type === 'error') this.actions.failed(event);
  }

  #takeContext(event: unknown): void {
    const { wallTime, monotonicTime, origin, version } = contextOptions.parse(event);
    this.#epoch = wallTime - monotonicTime;
    const wasOfTest = this.#isOfTest;
    this.#isOfTest = origin === 'testRunner';
    if (!knownVersions.includes(version)) this.unknownVersion = version;
    // The test's own lines come first, so the failing action is known by now.
    const failing = wasOfTest ? this.actions.failing() : null;
    if (failing) this.pages.watch(failing.id);
  }

  #takeBeginning(event: unknown): void {
    addTyped(event, this.typed);
    this.actions.begin(event, { epoch: this.#epoch, isOfTest: this.#isOfTest });
  }

  #takeEnd(event: unknown): void {
    this.#timeOf(ended.parse(event).endTime);
    // The test's step has already described this call of the library.
    if (this.#isOfTest || !this.actions.isOfTest) this.actions.end(event, this.#epoch);
  }

  /** Takes a request once: the trace of a page that tests share repeats those of the tests before. */
  #takeRequest(request: TraceRequest): void {
    const key = [request.time, request.durationMs, request.method, request.url].join(' ');
    if (this.#requests.has(key)) return;
    this.#requests.add(key);
    this.network.push(request);
  }

  #takeConsole(event: unknown): void {
    const { time, messageType: type, text, location } = consoleEvent.parse(event);
    const { url, lineNumber, columnNumber } = location;
    const at = position(url, lineNumber, columnNumber);
    this.console.push({ time: this.#timeOf(time), type, text, location: at, stack: null });
  }

  #takePageEvent(event: unknown): void {
    if (pageEvent.parse(event).method === 'dialog') this.#takeDialog(event);
    else this.#takePageError(event);
  }

  #takePageError(event: unknown): void {
    const { time, params } = pageError.parse(event);
    const { error, value } = params.error;
    const { url, line, column } = params.location;
    const thrown = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    const text = error === undefined ? thrown : error.message;
    this.console.push({
      time: this.#timeOf(time),
      type: 'pageerror',
      text: error?.name && !text.startsWith(error.name) ? `${error.name}: ${text}` : text,
      location: position(url, line, column),
      stack: error?.stack ?? null,
    });
  }

  /** Adds a dialog to the console. If no step of the test closes it, Playwright did, since the test has no handler for it. */
  #takeDialog(event: unknown): void {
    const { time: at, params } = dialogEvent.parse(event);
    const time = this.#timeOf(at);
    const closing = this.actions.all.find(
      ({ title, startedAt }) => startedAt >= time && /^(?:accept|dismiss) dialog|^dialog\.\w/i.test(title),
    );
    const auto = params.type === 'beforeunload' ? 'accepted' : 'dismissed';
    const how = closing
      ? `closed by the test (${closing.title})`
      : `${auto} by Playwright: the test has no handler for it`;
    const text = `${params.type} ${JSON.stringify(params.message)}, ${how}`;
    this.console.push({ time, type: 'dialog', text, location: '', stack: null });
  }

  #takeFrame(event: unknown): void {
    const file = resourceFile.parse(event);
    if (file === null) return;
    const { timestamp, pageId } = screencastFrame.parse(event);
    this.#frames.push({ time: this.#timeOf(timestamp), pageId, file });
    // Long tests have tens of thousands.
    if (this.#frames.length > 2_000) this.#frames.splice(0, 1_000);
  }

  /** Keeps the beginning of a console entry that is too long to parse; only counts other lines. */
  #salvage(line: BoundedLine, start: string): void {
    const head = line.bytes.toString('utf8', 0, salvageBytes);
    const text = start.includes('"type":"console"') ? stringIn(head, 'text') : null;
    if (text === null) {
      this.lostLines += 1;
      return;
    }
    const type = stringIn(head, 'messageType') ?? 'log';
    this.console.push({ time: this.lastTime, type, text: `${text}…`, location: '', stack: null });
  }

  #timeOf(monotonic: number): number {
    const time = Math.round(this.#epoch + monotonic);
    this.lastTime = Math.max(this.lastTime, time);
    return time;
  }
}

/** Returns the value of a string field in JSON that may be cut off, as far as it goes; null if there is no such field. */
function stringIn(json: string, name: string): string | null {
  const start = json.indexOf(`"${name}":"`);
  if (start < 0) return null;
  const [raw = ''] =
    /^(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*/i.exec(json.slice(start + name.length + 4)) ?? [];
  return z
    .string()
    .catch(raw)
    .parse(jsonOf(`"${raw}"`));
}

/** Returns `url:line:column`, counted from 1; traces count from 0. */
function position(url: string, line: number, column: number): string {
  return url === '' ? '' : `${url}:${line + 1}:${column + 1}`;
}

/** How much of the documents of one trace is held in memory, in bytes of JSON. */
const mostBytes = 16 * 1024 * 1024;
/** A node that has not changed. Without one, a snapshot begins a document. */
const reference = /\[\[\d+,\d+\]\]/;

interface Frame {
  document: DocumentSnapshots;
  bytes: number;
  latest: Omit<FrameDom, 'root'>;
}

/** The pages of a trace: as they were after one action, and as they were last. */
class TracePages {
  readonly #frames = new Map<string, Frame>();
  readonly #after = new Map<string, FrameDom>();
  #action: string | null = null;
  #pageId: string | null = null;
  #bytes = 0;
  readonly #typed: Set<string>;
  /** The number of snapshots that were too large to keep. */
  lost = 0;

  /** Adds what is in fields for secrets to `typed`. */
  constructor(typed: Set<string>) {
    this.#typed = typed;
  }

  /** Sets the action, by its step's id, after which the page is wanted. */
  watch(action: string): void {
    this.#action = action;
  }

  /** The page of the action, or else the page that changed last. */
  get pageId(): string | null {
    return this.#pageId ?? this.#latestMain()?.pageId ?? null;
  }

  /** Takes a `frame-snapshot` line; `step` returns the step that a call belongs to. */
  take(json: string, step: (callId: string) => string): void {
    const line = jsonOf(json);
    if (line === undefined) return void (this.lost += 1);
    if (json.includes(typedValue)) addTyped(line, this.#typed);
    const { callId, phase, ...about } = frameSnapshot.parse(line);
    const known = this.#frames.get(about.frameId);
    const isNew = !known || !reference.test(json);
    const frame = isNew ? { document: new DocumentSnapshots(), bytes: 0, latest: about } : known;
    if (isNew) this.#bytes -= known?.bytes ?? 0;
    frame.latest = about;
    // The order is the age: the frame that changed last comes last.
    this.#frames.delete(about.frameId);
    this.#frames.set(about.frameId, frame);
    const fits = this.#bytes + json.length <= mostBytes;
    if (fits) {
      frame.bytes += json.length;
      this.#bytes += json.length;
    } else this.lost += 1;
    frame.document.push(fits ? json : '');
    if (step(callId) !== this.#action || !phase.startsWith('after')) return;
    const root = frame.document.latest();
    if (!root) return;
    this.#after.set(about.frameId, { ...about, root });
    if (about.isMainFrame) this.#pageId = about.pageId;
  }

  /** The page after the action, or as it was last if the action has not ended or is not known. */
  after(): PageDom | null {
    const last = () =>
      [...this.#frames.values()].flatMap(({ document, latest }) => {
        const root = latest.pageId === this.pageId ? document.latest() : null;
        return root ? [{ ...latest, root }] : [];
      });
    const after = this.#ofPage([...this.#after.values()]);
    return pageOf(after, this.#typed) ?? pageOf(last(), this.#typed);
  }

  #ofPage(frames: readonly FrameDom[]): FrameDom[] {
    return frames.filter(({ pageId }) => pageId === this.pageId);
  }

  #latestMain(): Omit<FrameDom, 'root'> | undefined {
    return [...this.#frames.values()]
      .map(({ latest }) => latest)
      .findLast(({ isMainFrame, url }) => isMainFrame && url !== 'about:blank');
  }
}
