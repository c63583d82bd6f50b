import { jsonOf } from '../../json-of.js';
import { field, stringOr } from '../unknown-fields.js';
import { DocumentSnapshots, type FrameDom, frameOf, type PageDom, pageOf } from './dom.js';

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
export class TracePages {
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
