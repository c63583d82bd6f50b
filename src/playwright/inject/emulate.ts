import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { Browser, BrowserContext, BrowserType, Page } from '@playwright/test';
import type { Emulation } from '../emulation.js';
import { injectEnv, runFiles } from '../report-format.js';
import { withdrawPreload } from './child-output.js';
import { dir, guarded } from './run-folder.js';

// Preloaded into the workers of a run that emulates another clock, or a slow CPU or network: wraps the browsers that the project's own
// Playwright launches there, by its public API alone.

type Methods<T> = { -readonly [K in keyof T]: T[K] };

/** Puts something between a method and what it returns. */
function after<T extends object, K extends keyof T>(
  object: T,
  name: K,
  then: (result: T[K] extends (...args: never[]) => Promise<infer R> ? R : never) => Promise<void>,
): void {
  const method = object[name] as unknown as (...args: unknown[]) => Promise<never>;
  (object as Methods<T>)[name] = (async (...args: unknown[]) => {
    const result = await method.apply(object, args);
    await then(result);
    return result;
  }) as T[K];
}

function emulateIn(type: BrowserType, emulation: Emulation): void {
  after(type, 'launch', async (browser: Browser) =>
    after(browser, 'newContext', (context: BrowserContext) => inContext(context, emulation)),
  );
  after(type, 'launchPersistentContext', (context: BrowserContext) => inContext(context, emulation));
}

async function inContext(context: BrowserContext, emulation: Emulation): Promise<void> {
  if ('clock' in emulation) {
    await context.clock.install({ time: emulation.clock });
    return tell();
  }
  after(context, 'newPage', (page: Page) => inPage(page, emulation));
  // Pages that others open are slow a little later.
  context.on('page', (page) => void inPage(page, emulation).catch(() => undefined));
}

async function inPage(page: Page, emulation: Exclude<Emulation, { clock: number }>): Promise<void> {
  // Only Chromium has it; elsewhere nothing is emulated, and nothing told.
  const session = await page
    .context()
    .newCDPSession(page)
    .catch(() => null);
  if (!session) return;
  if ('cpu' in emulation) await session.send('Emulation.setCPUThrottlingRate', { rate: emulation.cpu });
  else {
    const throughput = (emulation.kbps * 1000) / 8;
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: emulation.latencyMs,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    });
  }
  tell();
}

/** Tells that something was emulated: a run in which nothing was shows nothing. */
function tell(): void {
  if (dir) fs.writeFileSync(path.join(dir, runFiles.emulated), '');
}

if (isMainThread) {
  withdrawPreload('emulate');
  guarded('nothing can be emulated', () => {
    const emulation = JSON.parse(process.env[injectEnv.emulate] ?? '') as Emulation;
    // A worker is a file of Playwright's own.
    const require = createRequire(process.argv[1] ?? '');
    const { chromium, firefox, webkit } = require('playwright-core') as typeof import('@playwright/test');
    for (const type of [chromium, firefox, webkit]) emulateIn(type, emulation);
  });
}
