import { type ConsoleEntry, isErrorEntry } from '../../model/evidence.js';
import type { TestFailure } from '../../model/failure.js';
import type { FetchedScript } from '../../playwright/suite-run.js';
import { EvidenceNotes } from '../bounded-text.js';
import { readTraceLines } from '../trace/read-trace.js';
import { findMapReference, resolveMapUrl } from './source-map.js';

const MAX_SCRIPTS = 60;
/** For all scripts and maps of one run together. */
const MAX_BYTES = 48 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 1_000;
const scriptUrl = /https?:\/\/[^\s()"'<>]{1,2000}?(?=:\d{1,7}:\d{1,9}(?!\d))/g;

/**
 * Fetches the scripts named in the stacks of failing tests, and their source maps, while their server still runs. A trace contains no scripts, and
 * a development server's scripts are not on disk.
 */
export class ScriptFetcher {
  readonly scripts: FetchedScript[] = [];
  readonly #requested = new Set<string>();
  #bytesLeft = MAX_BYTES;

  /** Fetches the scripts named in a failure's stacks, each script once per run. Never rejects. */
  async fetchScripts({ attachments, errors }: TestFailure): Promise<void> {
    const trace = attachments.findLast(({ name }) => name === 'trace')?.path;
    if (trace === undefined) return;
    const notes = new EvidenceNotes((text) => text);
    const limits = { console: 100, network: 300 };
    const read = await notes.tryGather('', () => readTraceLines({ file: trace, limits, notes }));
    if (!read) return;
    const stacks = [
      ...errors.flatMap(({ message, stack }) => [message, stack ?? '']),
      ...read.reading.console.selectEntries(notes).filter(isErrorEntry).flatMap(listTexts),
    ];
    const pages = read.requests.filter(({ resourceType }) => resourceType === 'document');
    const origins = new Set(pages.map(({ url }) => readOrigin(url)));
    const newestUrls = read.requests
      .filter(({ resourceType }) => resourceType === 'script')
      .map(({ url }) => url);
    const urls = listScripts(stacks, newestUrls.toReversed()).filter((url) => origins.has(readOrigin(url)));
    await Promise.all(urls.map((url) => this.#fetch(url).catch(() => undefined)));
  }

  async #fetch(url: string): Promise<void> {
    if (this.#requested.has(url) || this.#requested.size >= MAX_SCRIPTS) return;
    this.#requested.add(url);
    const text = await this.#fetchText(url);
    if (text === null) return;
    // A script that is not minified may have no map.
    const mayHaveMap = findMapReference(text) !== null || /^.{500}/m.test(text);
    const mapUrl = mayHaveMap ? resolveMapUrl(text, url) : null;
    const isOwn = mapUrl !== null && readOrigin(mapUrl) === readOrigin(url);
    const map = isOwn ? await this.#fetchText(mapUrl).catch(() => null) : null;
    this.scripts.push({ url, text, map });
  }

  async #fetchText(url: string): Promise<string | null> {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    if (!response.ok || /html/i.test(response.headers.get('content-type') ?? '')) {
      await response.body?.cancel();
      return null;
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      this.#bytesLeft -= chunk.length;
      if (this.#bytesLeft < 0) return null;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

function listTexts({ stack, text, location }: ConsoleEntry): string[] {
  return [stack ?? '', text, location];
}

function listScripts(stacks: readonly string[], newestUrls: readonly string[]): string[] {
  const namedUrls = stacks.flatMap((stack) =>
    [...stack.matchAll(scriptUrl)].map(([url]) => url.replace(/#.*$/, '')),
  );
  // With webpack's eval modules, a stack names the module instead of the script that contains it.
  const hasEvaluatedModules = stacks.some((stack) => stack.includes('webpack-internal:'));
  return [...new Set([...namedUrls, ...(hasEvaluatedModules ? newestUrls : [])])].filter(isScript);
}

/** Stacks also name the URL of a document, for inline scripts. */
function isScript(url: string): boolean {
  return URL.canParse(url) && /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i.test(new URL(url).pathname);
}

function readOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
