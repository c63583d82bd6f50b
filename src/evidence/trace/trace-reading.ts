import { ConsoleSelection } from '../console-selection.js';
import { NetworkSelection } from '../network-selection.js';
import type { EvidenceLimits } from '../page-evidence.js';
import { jsonOf } from '../../json-of.js';
import { field, numberOr, stringOr } from '../unknown-fields.js';
import type { BoundedLine } from './bounded-lines.js';
import { fileOf, traceRequestOf, type TraceRequest } from './har-request.js';

/** The supported trace formats. Others are read as well, but reported as unknown. */
const knownVersions = [7, 8, 9, 10];

/** Enough of a line to recognize its type, and to find the URL of a DOM snapshot, which precedes the DOM. */
const lookBytes = 4096;
/** How much is kept of a console line that is too long to parse. */
const salvageBytes = 64 * 1024;

/** Takes the lines of a trace's `.trace` and `.network` entries, of all contexts, and keeps the relevant ones. */
export class TraceReading {
  readonly console: ConsoleSelection;
  readonly network: NetworkSelection<TraceRequest>;
  /** Names of the entries with the last screenshot and the last accessibility tree. */
  frameFile: string | null = null;
  ariaFile: string | null = null;
  pageUrl: string | null = null;
  unknownVersion: number | null = null;
  /** The number of relevant lines that were too long or incomplete. */
  lostLines = 0;
  #frameTime = -Infinity;
  #ariaTime = -Infinity;
  /** Converts a context's monotonic time to milliseconds since the epoch when added to it. */
  #epoch = 0;
  #lastTime = 0;

  constructor(limits: EvidenceLimits) {
    this.console = new ConsoleSelection(limits.console);
    this.network = new NetworkSelection(limits.network);
  }

  /** Takes one line. Parses only lines that are needed, since most of a trace is DOM snapshots. */
  readonly take = (line: BoundedLine): void => {
    const start = line.bytes.toString('latin1', 0, 160);
    if (start.includes('"type":"frame-snapshot"')) return this.#takeAddress(line);
    if (
      !/"type":"(?:console|event|resource-snapshot|screencast-frame|aria-snapshot|context-options)"/.test(
        start,
      )
    )
      return;
    if (start.includes('"type":"event"') && !start.includes('"method":"pageError"')) return;
    const event = line.whole ? jsonOf(line.bytes.toString('utf8')) : undefined;
    if (event === undefined) this.#salvage(line, start);
    else this.#takeEvent(event);
  };

  #takeEvent(event: unknown): void {
    const type = field(event, 'type');
    if (type === 'context-options') this.#takeContext(event);
    else if (type === 'console') this.#takeConsole(event);
    else if (type === 'event') this.#takePageError(event);
    else if (type === 'resource-snapshot') this.network.push(traceRequestOf(field(event, 'snapshot')));
    else if (type === 'screencast-frame') this.#takeFrame(event);
    else if (type === 'aria-snapshot') this.#takeAria(event);
  }

  #takeContext(event: unknown): void {
    this.#epoch = numberOr(field(event, 'wallTime'), 0) - numberOr(field(event, 'monotonicTime'), 0);
    const version = numberOr(field(event, 'version'), 0);
    if (!knownVersions.includes(version)) this.unknownVersion = version;
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
    const time = this.#timeOf(field(event, 'timestamp'));
    if (time < this.#frameTime) return;
    [this.#frameTime, this.frameFile] = [time, fileOf(event)];
  }

  #takeAria(event: unknown): void {
    const time = this.#timeOf(field(event, 'timestamp'));
    if (time < this.#ariaTime) return;
    [this.#ariaTime, this.ariaFile] = [time, fileOf(event)];
  }

  #takeAddress(line: BoundedLine): void {
    const isMainFrame = line.bytes
      .toString('latin1', Math.max(0, line.bytes.length - 64))
      .includes('"isMainFrame":true');
    if (line.whole && !isMainFrame) return;
    const url = stringIn(line.bytes.toString('utf8', 0, lookBytes), 'frameUrl');
    if (url && url !== 'about:blank') this.pageUrl = url;
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
    this.console.push({ time: this.#lastTime, type, text: `${text}…`, location: '', stack: null });
  }

  #timeOf(monotonic: unknown): number {
    this.#lastTime = Math.round(this.#epoch + numberOr(monotonic, 0));
    return this.#lastTime;
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
