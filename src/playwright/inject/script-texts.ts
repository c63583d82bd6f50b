import fs from 'node:fs';
import path from 'node:path';
import type { BrowserContext, Response } from '@playwright/test';
import type { CapturedScript } from '../capture-format.js';
import { capped, internalCall } from './internal-call.js';

const mostScripts = 20;
/** For all scripts and maps of one try together. */
const mostBytes = 16 * 1024 * 1024;
const timeoutMs = 1_000;
/** Saved before a test can replace it. */
const { fetch } = globalThis;
const address = /https?:\/\/[^\s()"'<>]{1,2000}?(?=:\d{1,7}:\d{1,9}(?!\d))/g;
const reference = /\/[/*][#@]\s?sourceMappingURL=([^\s'"*\\]{1,2000})[\s*/]*$/;

/** What determines the scripts to keep for a try. */
interface ScriptsSought {
  /** The texts that contain stack frames. */
  readonly stacks: readonly string[];
  /** Returns the response that delivered a script, or null if it is no longer known. */
  readonly responseOf: (url: string) => Pick<Response, 'headers' | 'text'> | null;
  /** The newest scripts of the page, for modules whose bundle no frame names. */
  readonly latest: readonly string[];
}

/**
 * For a failed try, keeps the scripts that its stacks name, and their source maps: those of a development server are not
 * on disk. Texts come from the browser, otherwise from the server of an open page, and are written to files immediately.
 */
export class ScriptTexts {
  readonly #prefix: string;
  readonly #scripts: CapturedScript[] = [];
  readonly #sought = new Set<string>();
  #bytesLeft = mostBytes;

  /** `prefix` is the beginning of the names of all files. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get scripts(): CapturedScript[] {
    return this.#scripts;
  }

  /**
   * Reads the scripts that stacks name, if they are from the same origin as a page of the context; never rejects. Each
   * has a short timeout.
   */
  async read(context: BrowserContext, sought: ScriptsSought): Promise<void> {
    const origins = new Set(context.pages().map((page) => originOf(page.url())));
    const urls = scriptsIn(sought).filter((url) => !this.#sought.has(url) && origins.has(originOf(url)));
    const reads = urls.slice(0, mostScripts - this.#sought.size).map(async (url) => {
      this.#sought.add(url);
      const text = await this.#textOf(url, sought.responseOf(url));
      if (text !== null) await this.#keep(url, text);
    });
    await Promise.allSettled(reads);
  }

  async #textOf(url: string, response: Pick<Response, 'headers' | 'text'> | null): Promise<string | null> {
    if (response) {
      const size = Number(response.headers()['content-length'] ?? 0);
      if (size > this.#bytesLeft) return null;
      const text = internalCall(response, () => response.text());
      // The browser drops response bodies when a page navigates, and when there are many scripts.
      const found = await capped(text, timeoutMs).catch(() => null);
      if (found !== null) return found;
    }
    return this.#fetched(url);
  }

  /** Does not use the context's own `request`, since that is closed before the context is. */
  async #fetched(url: string): Promise<string | null> {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok || /html/i.test(answer.headers.get('content-type') ?? '')) {
      await answer.body?.cancel();
      return null;
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      if (bytes > this.#bytesLeft) return null;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  async #keep(url: string, text: string): Promise<void> {
    const file = this.#write(text);
    if (file === null) return;
    const script: CapturedScript = { url, file, map: null };
    this.#scripts.push(script);
    const mapUrl = mapOf(url, text);
    const map = mapUrl && (await this.#fetched(mapUrl).catch(() => null));
    if (map) script.map = this.#write(map);
  }

  /** Returns null if there is no room left. */
  #write(text: string): string | null {
    const bytes = Buffer.from(text);
    if (bytes.length > this.#bytesLeft) return null;
    this.#bytesLeft -= bytes.length;
    const file = `${this.#prefix}-script-${Date.now()}-${this.#bytesLeft}.txt`;
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, bytes);
    return file;
  }
}

function scriptsIn({ stacks, latest }: ScriptsSought): string[] {
  const named = stacks.flatMap((stack) =>
    [...stack.matchAll(address)].map(([url]) => url.replace(/#.*$/, '')),
  );
  const evaluated = stacks.some((stack) => stack.includes('webpack-internal:'));
  return [...new Set([...named, ...(evaluated ? latest : [])])].filter(isScript);
}

/** Stacks also name the URL of a document, for inline scripts. */
function isScript(url: string): boolean {
  return URL.canParse(url) && /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i.test(new URL(url).pathname);
}

/** Returns the URL of the external map that a script names, if it is on the script's origin; otherwise null. */
function mapOf(url: string, text: string): string | null {
  const named = reference.exec(text.slice(-4_096))?.[1];
  if (named === undefined || named.startsWith('data:') || !URL.canParse(named, url)) return null;
  const found = new URL(named, url);
  return found.origin === originOf(url) ? found.href : null;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
