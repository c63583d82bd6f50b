import { ConsoleSelection, NetworkSelection } from '../selections.js';
import type { EvidenceLimits } from '../page-evidence.js';
import { jsonOf } from '../../json-of.js';
import { field, numberOr, stringOr } from '../unknown-fields.js';
import type { BoundedLine } from '../../playwright/zip.js';
import { type TraceRequest, fileOf, traceRequestOf } from './har-request.js';
import { TraceActions } from './trace-actions.js';
import { type FrameDom, type PageDom, DocumentSnapshots, frameOf, pageOf } from './dom.js';

/** The supported trace formats. Others are read as well, but reported as unknown. */
const knownVersions = [7, 8, 9, 10];

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
  readonly pages = new TracePages();
  unknownVersion: number | null = null;
  /** The number of relevant lines that were too long or incomplete. */
  lostLines = 0;
  /** The time of the last line, in milliseconds since the epoch. */
  lastTime = 0;
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
    if (type === 'event' && !start.includes('"method":"pageError"')) return;
    const text = line.whole ? line.bytes.toString('utf8') : '';
    if (type === 'frame-snapshot') return this.pages.take(text, (call) => this.actions.stepOf(call));
    const event = jsonOf(text);
    if (event === undefined) this.#salvage(line, start);
    else this.#takeEvent(type, event);
  };

  #takeEvent(type: string, event: unknown): void {
    if (type === 'context-options') this.#takeContext(event);
    else if (type === 'console') this.#takeConsole(event);
    else if (type === 'event') this.#takePageError(event);
    else if (type === 'resource-snapshot') this.network.push(traceRequestOf(field(event, 'snapshot')));
    else if (type === 'screencast-frame') this.#takeFrame(event);
    else if (type === 'before') this.actions.begin(event, { epoch: this.#epoch, isOfTest: this.#isOfTest });
    else if (type === 'after') this.#takeEnd(event);
    else if (type === 'log') this.actions.log(event);
    else if (type === 'error') this.actions.failed(event);
  }

  #takeContext(event: unknown): void {
    this.#epoch = numberOr(field(event, 'wallTime'), 0) - numberOr(field(event, 'monotonicTime'), 0);
    const wasOfTest = this.#isOfTest;
    this.#isOfTest = field(event, 'origin') === 'testRunner';
    const version = numberOr(field(event, 'version'), 0);
    if (!knownVersions.includes(version)) this.unknownVersion = version;
    // The test's own lines come first, so that it is known by now around which action the pages are wanted.
    const failing = wasOfTest ? this.actions.failing() : null;
    if (failing) this.pages.watch(failing.id);
  }

  #takeEnd(event: unknown): void {
    this.#timeOf(field(event, 'endTime'));
    // What the library says of an action, its step has said in the test's words.
    if (this.#isOfTest || !this.actions.isOfTest) this.actions.end(event, this.#epoch);
  }

  #takeConsole(event: unknown): void {
    const location = field(event, 'location');
    const type = stringOr(field(event, 'messageType'), 'log');
    this.console.push({
      time: this.#timeOf(field(event, 'time')),
      type,
      text: stringOr(field(event, 'text'), ''),
      location: position(location, 'lineNumber', 'columnNumber'),
      stack: null,
    });
  }

  #takePageError(event: unknown): void {
    const params = field(event, 'params');
    const thrown = field(params, 'error');
    const error = field(thrown, 'error');
    const name = stringOr(field(error, 'name'), '');
    const message = stringOr(field(error, 'message'), '');
    // `throw 'text'` has a value instead of an error.
    const value = field(thrown, 'value');
    const text = error === undefined ? stringOr(value, JSON.stringify(value) ?? '') : message;
    this.console.push({
      time: this.#timeOf(field(event, 'time')),
      type: 'pageerror',
      text: name && !text.startsWith(name) ? `${name}: ${text}` : text,
      location: position(field(params, 'location'), 'line', 'column'),
      stack: stringOr(field(error, 'stack'), null),
    });
  }

  #takeFrame(event: unknown): void {
    const file = fileOf(event);
    if (file === null) return;
    const time = this.#timeOf(field(event, 'timestamp'));
    this.#frames.push({ time, pageId: stringOr(field(event, 'pageId'), ''), file });
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

  #timeOf(monotonic: unknown): number {
    const time = Math.round(this.#epoch + numberOr(monotonic, 0));
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
  return stringOr(jsonOf(`"${raw}"`), raw);
}

/** Returns `url:line:column`, counted from 1; traces count from 0. */
function position(location: unknown, line: string, column: string): string {
  const url = stringOr(field(location, 'url'), '');
  if (url === '') return '';
  return `${url}:${numberOr(field(location, line), 0) + 1}:${numberOr(field(location, column), 0) + 1}`;
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

/** The pages of a trace: as they were before and after one action, and as they were last. */
class TracePages {
  readonly #frames = new Map<string, Frame>();
  readonly #before = new Map<string, FrameDom>();
  readonly #after = new Map<string, FrameDom>();
  #action: string | null = null;
  #pageId: string | null = null;
  #bytes = 0;
  /** The number of snapshots that were too large to keep. */
  lost = 0;

  /** Says around which action, a step's id, the pages are wanted. */
  watch(action: string): void {
    this.#action = action;
  }

  /** The page on which the action was, or else the one that changed last. */
  get pageId(): string | null {
    return this.#pageId ?? this.#latestMain()?.pageId ?? null;
  }

  /** Takes a `frame-snapshot` line; `step` returns the step that a call belongs to. */
  take(json: string, step: (callId: string) => string): void {
    const snapshot = field(jsonOf(json), 'snapshot');
    if (snapshot === undefined) return void (this.lost += 1);
    const about = frameOf(snapshot);
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
    this.#keepAround(snapshot, frame, step);
  }

  #keepAround(snapshot: unknown, frame: Frame, step: (callId: string) => string): void {
    if (step(stringOr(field(snapshot, 'callId'), '')) !== this.#action) return;
    const phase = stringOr(field(snapshot, 'phase'), stringOr(field(snapshot, 'snapshotName'), ''));
    const kept = phase.startsWith('before') ? this.#before : phase.startsWith('after') ? this.#after : null;
    const root = kept && frame.document.latest();
    if (!kept || !root) return;
    kept.set(frame.latest.frameId, { ...frame.latest, root });
    if (frame.latest.isMainFrame) this.#pageId = frame.latest.pageId;
  }

  /** The page before the action; null if the trace does not show it. */
  before(): PageDom | null {
    return pageOf(this.#ofPage([...this.#before.values()]));
  }

  /** The page after the action, or as it was last if the action has not ended or is not known. */
  after(): PageDom | null {
    const last = () =>
      [...this.#frames.values()].flatMap(({ document, latest }) => {
        const root = latest.pageId === this.pageId ? document.latest() : null;
        return root ? [{ ...latest, root }] : [];
      });
    return pageOf(this.#ofPage([...this.#after.values()])) ?? pageOf(last());
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
