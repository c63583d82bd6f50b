import path from 'node:path';
import { importResolver, isCode } from '../code/imports.js';
import { parseSource } from '../code/source-file.js';
import type { Tree } from './tree.js';

const mostFiles = 5_000;
/** A file name in a string of the test code: data that it reads, a set-up that the config names. */
const named = /['"`]([^'"`\n:*?]{1,200}?\.\w{1,8}|\.{1,2}\/[^'"`\n:*?]{1,200})['"`]/g;

/**
 * Returns the files that belong to a suite, given its specs and config: these, and what they import or name in a string, directly or through
 * others. Found in the code rather than in what Playwright's processes load: a run loads the files of its own tests only, and nothing
 * has to be preloaded into it. A name that code puts together is found if its last part is written out and just one file of the
 * project ends with it. Paths are relative to the tree's root.
 */
export async function filesOfTests(tree: Tree, specs: Iterable<string>): Promise<string[]> {
  const paths = new Set(await tree.paths());
  const resolve = importResolver(paths);
  const byName = new Map<string, string | null>();
  for (const file of paths) {
    if (isCode(file)) continue;
    const name = path.posix.basename(file);
    byName.set(name, byName.has(name) ? null : file);
  }
  const seen = new Set([...specs].filter((file) => paths.has(file)));
  for (let next = [...seen]; next.length > 0 && seen.size < mostFiles;) {
    const texts = await tree.read(next.filter(isCode));
    next = [];
    for (const [file, bytes] of texts) {
      const text = Buffer.from(bytes).toString('utf8');
      const names = [...text.matchAll(named)].flatMap(([, name = '']) => [
        ...[path.posix.dirname(file), '.'].map((folder) => path.posix.join(folder, name)),
        byName.get(path.posix.basename(name)) ?? '',
        resolve(file, name) ?? '',
      ]);
      const imports = (parseSource(file, text)?.imports ?? []).flatMap((one) => resolve(file, one) ?? []);
      for (const one of [...imports, ...names])
        if (paths.has(one) && !seen.has(one)) {
          seen.add(one);
          next.push(one);
        }
    }
  }
  return [...seen];
}
