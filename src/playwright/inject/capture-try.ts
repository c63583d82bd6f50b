import { writeFileSync } from 'node:fs';
import type { BrowserContext, TestInfo } from '@playwright/test';
import { type ConsoleEntry, isAlarming } from '../../core/evidence.js';
import type { CapturedPage, CaptureFile } from '../capture-format.js';
import { injectEnv } from '../report-format.js';
import { guarded, note, captureFile } from './run-folder.js';
import { consoleEntry, pageErrorEntry } from './console-entry.js';
import { writeCapture } from './capture-file.js';
import { watchApiRequests } from './api-requests.js';
import { passOverPauses } from './pass-over-pauses.js';
import { capped, internalCall } from './internal-call.js';
import { Newest } from '../../newest.js';
import { PendingCalls } from './pending-calls.js';
import { noteComplaints } from './complaints.js';
import { now } from './now.js';
import { capturePage, uncaptured } from './capture-page.js';
import { ScriptTexts } from './script-texts.js';
import { type Listen, Traffic } from './traffic.js';

/** The part of Playwright's private API that is used here; the names are the same from 1.50 to 1.65. */
interface PlaywrightInternals {
  readonly _instrumentation: {
    addListener(listener: object): void;
    removeListener(listener: object): void;
  };
  /** Since about 1.51. */
  _allContexts?(): BrowserContext[];
  readonly request: { readonly _contexts?: Iterable<object> };
  readonly chromium: { readonly _contexts?: Iterable<BrowserContext> };
  readonly firefox: { readonly _contexts?: Iterable<BrowserContext> };
  readonly webkit: { readonly _contexts?: Iterable<BrowserContext> };
}

type Try = Pick<TestInfo, 'testId' | 'retry' | 'status' | 'expectedStatus' | 'errors'>;

/** How many console entries, and how many requests, to keep for a failing try. */
const keep = 500;
const picturesPassing = process.env[injectEnv.pictures] === '1';
const maxPagesOfContext = 3;
const maxPages = 10;
const bodiesWaitMs = 1_000;
const scriptsWaitMs = 1_500;

/**
 * Listens, in memory, to every browser context and API request context of one try. Only a try that fails reads pages and
 * writes a file.
 */
class TryCapture {
  readonly #playwright: PlaywrightInternals;
  readonly #try: Try;
  readonly #console = new Newest<ConsoleEntry>(keep, isAlarming);
  readonly #traffic = new Traffic(keep);
  readonly #pending = new PendingCalls();
  readonly #pages: CapturedPage[] = [];
  #texts: ScriptTexts | undefined;
  readonly #seen = new WeakSet();
  readonly #undo: (() => unknown)[] = [];

  constructor(playwright: PlaywrightInternals, testInfo: Try) {
    this.#playwright = playwright;
    this.#try = testInfo;
  }

  // Only a failing try needs these two.
  get #file(): string {
    return captureFile(this.#try.testId, this.#try.retry);
  }

  get #scripts(): ScriptTexts {
    return (this.#texts ??= new ScriptTexts(this.#file.replace(/\.json$/, '')));
  }

  start(): void {
    // A page created in `beforeAll` is older than this try.
    for (const context of this.#contexts()) this.#listen(context);
    for (const context of this.#playwright.request._contexts ?? []) this.#listenToApi(context);
    const listener = {
      ...this.#pending.listener,
      runAfterCreateBrowserContext: async (context: BrowserContext) =>
        guarded('a context could not be listened to', () => this.#listen(context)),
      runAfterCreateRequestContext: async (context: object) => this.#listenToApi(context),
      runBeforeCloseRequestContext: () => this.#readLatestBodies(),
      // Playwright closes its own pages before an automatic fixture ends, so this is the last chance to look at them.
      runBeforeCloseBrowserContext: (context: BrowserContext) => this.#look(context),
    };
    this.#playwright._instrumentation.addListener(listener);
    this.#undo.push(() => this.#playwright._instrumentation.removeListener(listener));
  }

  async finish(): Promise<void> {
    const endedAt = now();
    try {
      guarded('the complaints of a test were not noted', () => this.#noteComplaints());
      if (!this.#isFailing()) return;
      // A context for API requests that the test created may still be open, without any page.
      await Promise.all([
        this.#readLatestBodies(),
        ...this.#contexts().map((context) => this.#look(context)),
      ]);
      await capped(this.#traffic.bodiesRead(), bodiesWaitMs).catch(() => undefined);
      writeCapture(this.#file, this.#captured(endedAt));
    } finally {
      for (const undo of this.#undo) undo();
    }
  }

  /** For the first try only. What its hooks record is noted separately, under the same test. */
  #noteComplaints(): void {
    if (this.#try.retry > 0) return;
    const console = this.#console.entries().filter(isAlarming);
    const { testId: test } = this.#try;
    noteComplaints({ test, console, requests: this.#traffic.complaints() });
  }

  #isFailing(): boolean {
    return this.#try.status !== this.#try.expectedStatus;
  }

  #captured(endedAt: number): CaptureFile {
    return {
      schemaVersion: 1,
      console: this.#console.entries(),
      network: this.#traffic.entries(endedAt),
      pages: this.#pages,
      scripts: this.#scripts.scripts,
      dropped: { console: this.#console.dropped, network: this.#traffic.dropped },
    };
  }

  #contexts(): BrowserContext[] {
    if (this.#playwright._allContexts) return this.#playwright._allContexts();
    const { chromium, firefox, webkit } = this.#playwright;
    return [chromium, firefox, webkit].flatMap((browser) => [...(browser._contexts ?? [])]);
  }

  #listen(context: BrowserContext): void {
    if (this.#seen.has(context)) return;
    this.#seen.add(context);
    guarded('page.pause() could not be passed over', () => passOverPauses(context));
    const emitter = context as unknown as NodeJS.EventEmitter;
    let isOpen = true;
    emitter.once('close', () => {
      isOpen = false;
    });
    const off: (() => void)[] = [];
    const on: Listen = (event, heard) => {
      const listener = (subject: Parameters<typeof heard>[0]): void => {
        guarded(`the ${event} event`, () => heard(subject));
      };
      emitter.on(event, listener);
      off.push(() => emitter.off(event, listener));
    };
    subscribe(context, () => {
      on('console', (message) => this.#console.push(consoleEntry(message)));
      on('weberror', (error) => this.#console.push(pageErrorEntry(error)));
      this.#traffic.listen(on);
    });
    // Removing them from a closed context would cost an error each.
    this.#undo.push(() => isOpen && subscribe(context, () => off.forEach((remove) => remove())));
    this.#listenToApi(context.request);
  }

  #listenToApi(context: object): void {
    if (this.#seen.has(context)) return;
    this.#seen.add(context);
    guarded('API requests could not be listened to', () =>
      this.#undo.push(watchApiRequests(context, this.#traffic)),
    );
  }

  async #readLatestBodies(): Promise<void> {
    if (this.#isFailing())
      await capped(this.#traffic.readLatestBodies(), bodiesWaitMs).catch(() => undefined);
  }

  /** Captures the pages of a context, each once, if the try is failing. */
  async #look(context: BrowserContext): Promise<void> {
    if (!this.#isFailing()) return this.#pictureOfPassing(context);
    const latest = this.#readLatestBodies();
    const waitedFor = this.#pending.selectors().at(-1) ?? null;
    const pages = context.pages().filter((page) => !this.#seen.has(page));
    const looks = pages.slice(0, maxPagesOfContext).map((page) => {
      this.#seen.add(page);
      if (this.#pages.length >= maxPages) return undefined;
      const captured = uncaptured(page.url());
      const n = this.#pages.push(captured);
      const file = this.#file.replace(/\.json$/, `-${Date.now()}-${n}.png`);
      return capturePage(page, captured, { file, waitedFor, withElements: true });
    });
    const scripts = this.#scripts.read(context, { stacks: this.#stacks(), ...this.#traffic.scripts() });
    await Promise.all([latest, capped(scripts, scriptsWaitMs).catch(() => undefined), ...looks]);
  }

  /** Takes one screenshot, of the page that is closed last. */
  async #pictureOfPassing(context: BrowserContext): Promise<void> {
    const page = picturesPassing ? context.pages().at(-1) : undefined;
    if (!page) return;
    const captured = uncaptured(page.url());
    const file = this.#file.replace(/\.json$/, '-green');
    await capturePage(page, captured, { file: `${file}.png`, waitedFor: null });
    const { ariaSnapshot } = captured;
    if (ariaSnapshot !== null)
      guarded('a snapshot was not kept', () => writeFileSync(`${file}.yml`, ariaSnapshot));
  }

  /** Returns the texts that contain stack frames of the page, those of errors first. */
  #stacks(): string[] {
    const errors = this.#try.errors.flatMap(({ message = '', stack = '' }) => [message, stack]);
    const alarming = this.#console.entries().filter(isAlarming);
    return [...errors, ...alarming.flatMap(({ stack, text, location }) => [stack ?? '', text, location])];
  }
}

/** Adds or removes listeners of a context. Playwright sends a message for each, and would find out for each who sent it. */
function subscribe(context: BrowserContext, change: () => void): void {
  internalCall(context, async () => change()).catch((error: unknown) =>
    note('a context could not be listened to', error),
  );
}

/**
 * The fixture. Playwright reads a fixture's parameter list from its source, so this must stay a plain function of this
 * form.
 */
export async function captureTry(
  { playwright }: { playwright: unknown },
  use: () => Promise<void>,
  testInfo: Try,
): Promise<void> {
  const capture = guarded('a test could not be captured', () => {
    const started = new TryCapture(playwright as PlaywrightInternals, testInfo);
    started.start();
    return started;
  });
  await use();
  await capture?.finish().catch((error: unknown) => note('a test could not be captured', error));
}
