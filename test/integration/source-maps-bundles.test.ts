import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { build as viteBuild, createServer } from 'vite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { classify } from '../../src/diagnose/classify.js';
import type { Evidence } from '../../src/model/evidence.js';
import { mapEvidence } from '../../src/evidence/map-evidence.js';
import { EvidenceNotes } from '../../src/evidence/bounded-text.js';
import type { FetchedScript } from '../../src/playwright/suite-run.js';
import { anEvidence } from '../rig/builders.js';
import { writeInto } from '../rig/agent-workspace.js';
import { appFiles, bundledApp, readThrownStack, thrownAt } from '../rig/bundled-app.js';
import { tempDir, tempDirOfFile } from '../rig/temp-dir.js';
import { webpackBundle } from '../rig/webpack-bundle.js';

const origin = 'http://localhost:5173';

/** The mapped evidence of a page that threw. */
function mapped(root: string, stack: string, scripts: readonly FetchedScript[] = []): Evidence {
  const text = stack.split('\n', 1)[0] ?? '';
  const entry = { time: 0, type: 'pageerror', text, location: locationOf(stack), stack };
  const evidence = anEvidence({ rootDir: root, pageUrl: `${origin}/`, console: [entry] });
  const notes = new EvidenceNotes();
  const { console, sources } = mapEvidence(evidence, { root, pageUrl: evidence.pageUrl, scripts }, notes);
  return { ...evidence, console, sources, missing: notes.missing };
}

function locationOf(stack: string): string {
  return /\(((?:https?|webpack-internal):\/\/\S+)\)(?:\n|$)/.exec(stack)?.[1] ?? '';
}

async function viteBundle(root: string, sourcemap: boolean | 'hidden' | 'inline'): Promise<string> {
  await viteBuild({
    root,
    configFile: false,
    logLevel: 'silent',
    build: { sourcemap, minify: 'esbuild', modulePreload: false },
  });
  return onlyScript(path.join(root, 'dist/assets'));
}

const built = new Map<string, Promise<string>>();

/** Returns a copy of the app with its Vite build, which is made once per kind of map. */
async function viteApp(sourcemap: boolean | 'hidden' | 'inline'): Promise<{ root: string; bundle: string }> {
  const build = async () => {
    const first = tempDirOfFile('vite app');
    writeInto(first, appFiles);
    await viteBundle(first, sourcemap);
    return first;
  };
  const made = built.get(String(sourcemap)) ?? build();
  built.set(String(sourcemap), made);
  const root = tempDir('vite app');
  cpSync(await made, root, { recursive: true });
  return { root, bundle: onlyScript(path.join(root, 'dist/assets')) };
}

function onlyScript(folder: string): string {
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.js'));
  return path.join(folder, name);
}

/** A script of the build as its server delivers it, with the map that it names or that lies beside it. */
function served(url: string, bundle: string): FetchedScript {
  const map = existsSync(`${bundle}.map`) ? readFileSync(`${bundle}.map`, 'utf8') : null;
  return { url, text: readFileSync(bundle, 'utf8'), map };
}

function expectTheThrow(evidence: Evidence): void {
  const source = classify(evidence).facts.source;
  expect(source).toMatch(new RegExp(`^${thrownAt}:\\d+$`));
  expect(evidence.console[0]?.location).toBe(source);
  const excerpt = evidence.sources.find(({ at }) => at === source);
  expect(excerpt?.snippet).toContain('> 14 |   lines.push(form.order!.id, options.password);');
  expect(excerpt?.snippet).not.toContain('hunter2');
  expect(evidence.missing).toEqual([]);
}

describe('EV-6: bundles on disk', () => {
  it.each([true, 'hidden', 'inline'] as const)(
    'EV-6 maps a minified Vite build with sourcemap: %s',
    async (kind) => {
      const { root, bundle } = await viteApp(kind);
      const address = `${origin}/assets/${path.basename(bundle)}`;
      const text = readFileSync(bundle, 'utf8');
      const stack = readThrownStack(text, address);
      expect(stack).toContain(address);
      const evidence = mapped(root, stack, [served(address, bundle)]);
      expectTheThrow(evidence);
      expect(evidence.sources[0]?.generated).toContain(`${address}:1:`);
      expect(evidence.console[0]?.stack).toMatch(/\(src\/main\.ts:9:\d+\)/);
    },
  );

  it('EV-6 maps an esbuild bundle with an inline map, and keeps a package’s frame in node_modules', async () => {
    const root = bundledApp();
    await esbuild.build({
      absWorkingDir: root,
      entryPoints: ['src/main.ts'],
      bundle: true,
      minifyWhitespace: true,
      minifyIdentifiers: true,
      sourcemap: 'inline',
      outfile: path.join(root, 'public/app.js'),
    });
    const [url, text] = [`${origin}/app.js`, readFileSync(path.join(root, 'public/app.js'), 'utf8')];
    const stack = readThrownStack(text, url);
    const evidence = mapped(root, stack, [{ url, text, map: null }]);
    expectTheThrow(evidence);
    expect(evidence.console[0]?.stack).toMatch(/\(node_modules\/left-first\/index\.js:3:\d+\)/);
  });

  it('EV-6 maps a webpack bundle with a source map', async () => {
    const root = bundledApp();
    const bundle = await webpackBundle(root, { mode: 'production', devtool: 'source-map' });
    const [url, text] = [`${origin}/main.js`, readFileSync(bundle, 'utf8')];
    const stack = readThrownStack(text, url);
    expect(stack).toContain(`${url}:1:`);
    expectTheThrow(mapped(root, stack, [served(url, bundle)]));
  });

  it('EV-6 maps the modules that a webpack bundle evaluates, also in the layers of a Next.js page', async () => {
    const root = bundledApp();
    const bundle = await webpackBundle(root, { mode: 'development', devtool: 'eval-source-map' });
    const plain = readFileSync(bundle, 'utf8');
    const layered = plain.replaceAll('webpack-internal:///./', 'webpack-internal:///(app-pages-browser)/./');
    for (const [text, layer] of [
      [plain, ''],
      [layered, '(app-pages-browser)/'],
    ] as const) {
      const stack = readThrownStack(text, `${origin}/main.js`);
      expect(stack).toContain(`webpack-internal:///${layer}./src/checkout/submit.ts:`);
      expectTheThrow(mapped(root, stack, [{ url: `${origin}/main.js`, text, map: null }]));
    }
  });

  it('EV-6 maps the stack of a bundle that Node runs, in the server’s output', async () => {
    const root = bundledApp();
    const outfile = path.join(root, 'build/server.mjs');
    await esbuild.build({
      absWorkingDir: root,
      entryPoints: ['src/main.ts'],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      sourcemap: 'linked',
      outfile,
      footer: { js: 'try { globalThis.run() } catch (error) { console.error("GET / failed", error) }' },
    });
    const { execa } = await import('execa');
    const { stderr } = await execa(process.execPath, [outfile], { env: { FORCE_COLOR: '0' } });
    expect(stderr).toContain('server.mjs:');
    const request = { root, pageUrl: null, scripts: [] };
    const { serverOutput, sources } = mapEvidence(
      anEvidence({ serverOutput: stderr }),
      request,
      new EvidenceNotes(),
    );
    expect(serverOutput).toMatch(/GET \/ failed TypeError.*\n\s+at \w+ \(src\/checkout\/submit\.ts:14:\d+\)/);
    expect(sources[0]?.snippet).toContain('> 14 |');
  });
});

describe('EV-6: captured scripts', () => {
  it('EV-6 maps Vite’s development code with a query in its URL through its inline map', async () => {
    const root = bundledApp();
    const server = await createServer({
      root,
      configFile: false,
      logLevel: 'silent',
      server: { port: 0, host: '127.0.0.1', watch: null, ws: false },
      optimizeDeps: { noDiscovery: true },
    });
    onTestFinished(() => server.close());
    await server.listen();
    const home = server.resolvedUrls?.local[0] ?? '';
    const url = `${home}src/checkout/submit.ts?t=1700000000000`;
    const text = await (await fetch(url)).text();
    const lines = text.split('\n');
    const line = lines.findIndex((one) => one.includes('form.order'));
    const stack = `TypeError: x\n    at send (${url}:${line + 1}:${(lines[line]?.indexOf('.id') ?? 0) + 2})`;
    const evidence = mapped(root, stack.replaceAll(home, `${origin}/`), [
      { url: url.replace(home, `${origin}/`), text, map: null },
    ]);
    expect(line + 1).not.toBe(14);
    expectTheThrow(evidence);
  });

  it('EV-6 maps through a fetched map, and quotes sources that are not on disk', async () => {
    const { root, bundle } = await viteApp(true);
    const url = `${origin}/assets/${path.basename(bundle)}`;
    const text = readFileSync(bundle, 'utf8');
    const script = served(url, bundle);
    rmSync(path.join(root, 'dist'), { recursive: true });
    rmSync(path.join(root, 'src'), { recursive: true });
    expectTheThrow(mapped(root, readThrownStack(text, url), [script]));
  });
});

describe('EV-12: missing or broken maps', () => {
  it.each([
    ['', 'there is none next to it'],
    ['{"version": 3', 'not a version 3 source map'],
    ['{"version": 3, "sources": ["a.ts"], "names": [], "mappings": "AA!!"}', 'not a version 3 source map'],
  ])('EV-12 leaves the frames and says what is missing (%#)', async (map, because) => {
    const { root, bundle } = await viteApp('hidden');
    if (map === '') rmSync(`${bundle}.map`);
    else writeFileSync(`${bundle}.map`, map);
    const url = `${origin}/assets/${path.basename(bundle)}`;
    const text = readFileSync(bundle, 'utf8');
    const stack = readThrownStack(text, url);
    const evidence = mapped(root, stack, [served(url, bundle)]);
    expect(evidence.console[0]?.stack).toBe(stack);
    expect(evidence.missing).toEqual([expect.stringContaining(`no source map for ${url}`)]);
    expect(evidence.missing[0]).toContain(because);
  });
});
