import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runWorker } from '../../process/worker.js';
import { tryOr } from '../../result.js';
import type { CodeFix } from './code-fixes.js';
import type { FixerProposal } from './proposal.js';

/** How long the project's TypeScript may take, in milliseconds. */
const LIMIT_MS = 60_000;

/** The build places `code-fix-process.js` next to every chunk. */
const processFile = fileURLToPath(new URL('code-fix-process.js', import.meta.url));

/** The message to the process. */
export interface CodeFixRequest {
  /** Absolute path of the project's own TypeScript. */
  readonly typescript: string;
  /** Absolute. */
  readonly files: readonly string[];
}

/** `src/cart.ts(20,3): error TS2322: …`, or with colors `src/cart.ts:20:3 - error …`. */
const compilerError = /^[^\S\n]*([^\s()][^()\n:]*\.[cm]?tsx?)[(:]\d+[,:]\d+\)?(?::| -) error TS\d+:/gm;

/** Fixes compiler errors with the project's own TypeScript (BF-3). Returns null if the project has no TypeScript, or if it is not sure of a fix. */
export async function runCodeFixes(
  output: string,
  folders: readonly string[],
): Promise<FixerProposal | null> {
  const namedFiles = new Set(Array.from(output.matchAll(compilerError), ([, file = '']) => file));
  const files = [...namedFiles].map(
    (file) =>
      folders.map((folder) => path.resolve(folder, file)).find((candidate) => existsSync(candidate)) ?? null,
  );
  const [first] = files;
  if (!first || files.includes(null)) return null;
  const typescript = tryOr(null, () => createRequire(first).resolve('typescript'));
  const fixed = typescript && (await runProcess({ typescript, files: files as string[] }));
  if (!fixed) return null;
  const summaries = [...new Set(fixed.flatMap((file) => file.summaries))].join('; ');
  return { summary: `TypeScript's own fix for ${[...namedFiles].join(', ')}: ${summaries}`, files: fixed };
}

async function runProcess(request: CodeFixRequest): Promise<CodeFix[] | null> {
  const { fixed } = await runWorker<CodeFix[] | null, { readonly fixed: CodeFix[] | null }>(processFile, {
    input: request,
    memoryMb: 2048,
    timeoutMs: LIMIT_MS,
    onMessage: async (fixed) => ({ fixed }),
    onFailure: () => ({ fixed: null }),
  });
  return fixed;
}
