import path from 'node:path';

const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

/** Whether a path is a file that the guard can parse. */
export function isCode(file: string): boolean {
  return extensions.includes(path.posix.extname(file)) && !file.endsWith('.d.ts');
}

/** A package of the project's own workspace, described by its `package.json`. */
export interface OwnPackage {
  readonly name: string;
  /** Relative to the recorded root; `.` for the root. */
  readonly folder: string;
  /** The entry file, relative to the recorded root; empty for the default `index`. */
  readonly main: string;
}

/**
 * Returns a function that resolves imports among these paths, without module configuration. It returns null for third-party packages and
 * missing files.
 */
export function createImportResolver(
  paths: ReadonlySet<string>,
  packages: readonly OwnPackage[] = [],
): (from: string, source: string) => string | null {
  const byStem = new Map<string, string[]>();
  for (const file of paths) {
    const stem = dropExtension(file);
    const known = byStem.get(stem);
    if (known) known.push(file);
    else byStem.set(stem, [file]);
  }
  const aliases = new Map<string, string | null>();
  return (from, source) => {
    if (source.startsWith('.')) {
      const target = path.posix.join(path.posix.dirname(from), source);
      return listCandidates(target).find((file) => paths.has(file)) ?? null;
    }
    const own = packages.find(({ name }) => source === name || source.startsWith(`${name}/`));
    if (own) {
      const part = source.slice(own.name.length + 1);
      const places = [own.folder, `${own.folder}/src`].map((folder) => path.posix.join(folder, part));
      const files = [part === '' ? own.main : '', ...places.flatMap(listCandidates)];
      return files.find((file) => paths.has(file)) ?? null;
    }
    if (!/^[@~#]/.test(source) || source.startsWith('@playwright/')) return null;
    const known = aliases.get(source);
    if (known !== undefined) return known;
    // An alias such as `@pages/cart` or `~/pages/cart` stands for the file whose path ends that way, if there is only one.
    const ends = listCandidates(source.replace(/^[@~#]\/?/, ''));
    const near = new Set(ends.flatMap((end) => byStem.get(dropExtension(end)) ?? []));
    const matches = [...near].filter((file) => ends.some((end) => file === end || file.endsWith(`/${end}`)));
    const only = matches.length === 1 ? (matches[0] ?? null) : null;
    aliases.set(source, only);
    return only;
  };
}

/** Returns the last two segments of a path, without the extension. Few files share them. */
function dropExtension(file: string): string {
  const parts = file.split('/').slice(-2);
  return parts.join('/').replace(/\.[cm]?[jt]sx?$/, '');
}

/** Lists the files that an import may mean, as Playwright resolves it: `./cart.js` may be `cart.ts`. */
function listCandidates(target: string): string[] {
  const swapped = target.replace(/\.([mc]?)js(x?)$/, '.$1ts$2');
  return [
    swapped,
    target,
    ...extensions.map((extension) => `${target}${extension}`),
    ...extensions.map((extension) => `${target}/index${extension}`),
  ];
}
