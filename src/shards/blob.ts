import type { ZipFile } from 'yauzl';
import { z } from 'zod';
import { eachBoundedLine } from '../evidence/trace/bounded-lines.js';
import { entriesOf, inflated, withZip } from '../evidence/trace/trace-zip.js';
import { jsonOf } from '../json-of.js';
import type { Shard } from './collected.js';

/** What a Playwright blob report says about itself. */
export interface Blob {
  readonly shard: Shard;
  /** The folder of its tests on the machine that ran them; absolute. */
  readonly rootDir: string;
  /** Null if Playwright did not record it (it needs `captureGitInfo` or a CI system that it knows). */
  readonly commit: string | null;
  /** The Playwright version that wrote it; null if not stated. */
  readonly playwright: string | null;
}

const shard = z.object({ current: z.int().positive(), total: z.int().positive() });
const metadata = z.object({
  method: z.literal('onBlobReportMetadata'),
  params: z.object({ shard: shard.nullish(), userAgent: z.string().optional().catch(undefined) }),
});
const configure = z.object({
  method: z.literal('onConfigure'),
  params: z.object({
    config: z.object({
      rootDir: z.string(),
      metadata: z
        .object({
          gitCommit: z.object({ hash: z.string() }).optional().catch(undefined),
          ci: z.object({ commitHash: z.string().optional() }).optional().catch(undefined),
        })
        .optional()
        .catch(undefined),
    }),
  }),
});

/** The report's metadata is in the first lines; longer lines belong to tests. */
const headBytes = 4 * 1024 * 1024;
const lineBytes = 1024 * 1024;

/** Reads the metadata of a blob report. Returns null for a zip file that is not a blob report, `damaged` for a file that is not a zip file. */
export async function readBlob(file: string): Promise<Blob | null | 'damaged'> {
  try {
    return await withZip(file, readHead);
  } catch {
    return 'damaged';
  }
}

function leavesFolder(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:)/.test(name) || name.split(/[/\\]/).includes('..');
}

async function readHead(zip: ZipFile): Promise<Blob | null> {
  const isReport = (name: string) => /^report[\w.-]*\.jsonl$/.test(name);
  const entries = await entriesOf(zip, (name) => isReport(name) || leavesFolder(name));
  const report = entries.find(({ name }) => isReport(name));
  if (!report) return null;
  // Playwright unpacks the file, and older versions write wherever an entry's name points.
  if (entries.some(({ name }) => leavesFolder(name))) throw new Error('a name in it leads out of it');
  const head: unknown[] = [];
  let room = headBytes;
  const first = async function* () {
    for await (const chunk of inflated(zip, report.entry, Infinity)) {
      yield chunk;
      room -= chunk.length;
      if (room < 0) return;
    }
  };
  await eachBoundedLine(first(), lineBytes, ({ bytes, whole }) => {
    if (whole && head.length < 10) head.push(jsonOf(bytes.toString('utf8')));
  });
  const said = head.map((line) => metadata.safeParse(line).data).find(Boolean);
  const config = head.map((line) => configure.safeParse(line).data).find(Boolean)?.params.config;
  if (!said || !config) throw new Error('it has no head');
  return {
    shard: said.params.shard ?? { current: 1, total: 1 },
    rootDir: config.rootDir,
    commit: config.metadata?.gitCommit?.hash ?? config.metadata?.ci?.commitHash ?? null,
    playwright: /^Playwright\/([\w.-]+)/.exec(said.params.userAgent ?? '')?.[1] ?? null,
  };
}
