import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { git } from '../git.js';
import { listProject } from '../workspace/project-files.js';
import type { SourceText } from './proposal.js';

const sourceFile =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|html?|css|scss|sql|prisma|graphql|py|rb|erb|haml|slim|php|twig|go|tmpl|java|kt|cs|cshtml|razor|ex|heex|eex|leex|rs|hbs|ejs|pug|njk|liquid|mdx)$/;
const generated = /(?:^|\/)(?:node_modules|\.self-heal|dist|build|out|coverage|vendor|\.next|\.nuxt)\//;

/** Larger projects are not searched, so nobody can say that a name is unused. */
const MAX_FILES = 5000;
const MAX_BYTES = 512 * 1024;

/**
 * Returns a function that reads the project's current sources, without generated files; it returns null if there are too many. Unchanged files
 * are not read again.
 */
export function openSources(root: string): () => Promise<readonly SourceText[] | null> {
  const known = new Map<string, { readonly stamp: string; readonly source: SourceText }>();
  return async () => {
    const paths = await sourcesIn(root);
    if (paths.length > MAX_FILES) return null;
    const found: SourceText[] = [];
    for (const one of paths) {
      const file = path.join(root, one);
      const info = await stat(file).catch(() => null);
      if (!info?.isFile() || info.size > MAX_BYTES) continue;
      const stamp = `${info.size} ${info.mtimeMs} ${info.ctimeMs}`;
      const before = known.get(file);
      const source =
        before?.stamp === stamp
          ? before.source
          : { file, text: await readFile(file, 'utf8').catch(() => '') };
      known.set(file, { stamp, source });
      found.push(source);
    }
    return found;
  };
}

async function sourcesIn(root: string): Promise<string[]> {
  const listed = await git(root, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const paths =
    listed === null
      ? (await listProject(root)).flatMap((one) =>
          one.kind === 'file' && one.area === 'source' ? [one.path] : [],
        )
      : [...new Set(listed.split('\0'))];
  return paths.filter((file) => sourceFile.test(file) && !generated.test(file));
}
