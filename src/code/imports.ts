import path from 'node:path';

const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

/** Whether a path is a file that the guard can parse. */
export function isCode(file: string): boolean {
  return extensions.includes(path.posix.extname(file)) && !file.endsWith('.d.ts');
}

/** A package of the project itself, as its `package.json` says. */
export interface OwnPackage {
  readonly name: string;
  /** Relative to the recorded root; `.` for the root. */
  readonly folder: string;
  /** The file that it gives out as a whole; empty for the usual `index`. */
  readonly main: string;
}

/** Resolves imports among these paths, without a module's configuration: null for packages of others and what is not there. */
export function importResolver(
  paths: ReadonlySet<string>,
  packages: readonly OwnPackage[] = [],
): (from: string, source: string) => string | null {
  const byStem = new Map<string, string[]>();
  for (const one of paths) {
    const stem = stemOf(one);
    const known = byStem.get(stem);
    if (known) known.push(one);
    else byStem.set(stem, [one]);
  }
  const aliases = new Map<string, string | null>();
  return (from, source) => {
    if (source.startsWith('.')) {
      const place = path.posix.join(path.posix.dirname(from), source);
      return candidates(place).find((one) => paths.has(one)) ?? null;
    }
    const own = packages.find(({ name }) => source === name || source.startsWith(`${name}/`));
    if (own) {
      const part = source.slice(own.name.length + 1);
      const places = [own.folder, `${own.folder}/src`].map((one) => path.posix.join(one, part));
      const files = [part === '' ? own.main : '', ...places.flatMap(candidates)];
      return files.find((one) => paths.has(one)) ?? null;
    }
    if (!/^[@~#]/.test(source) || source.startsWith('@playwright/')) return null;
    const known = aliases.get(source);
    if (known !== undefined) return known;
    // `@pages/cart` and `~/pages/cart` are a file that ends so, where there is just one.
    const ends = candidates(source.replace(/^[@~#]\/?/, ''));
    const near = new Set(ends.flatMap((end) => byStem.get(stemOf(end)) ?? []));
    const found = [...near].filter((one) => ends.some((end) => one === end || one.endsWith(`/${end}`)));
    const only = found.length === 1 ? (found[0] ?? null) : null;
    aliases.set(source, only);
    return only;
  };
}

/** The last two parts of a path without an ending, by which few files are alike. */
function stemOf(file: string): string {
  const parts = file.split('/').slice(-2);
  return parts.join('/').replace(/\.[cm]?[jt]sx?$/, '');
}

/** As Playwright does: `./cart.js` may be `cart.ts`. */
function candidates(place: string): string[] {
  const swapped = place.replace(/\.([mc]?)js(x?)$/, '.$1ts$2');
  return [
    swapped,
    place,
    ...extensions.map((extension) => `${place}${extension}`),
    ...extensions.map((extension) => `${place}/index${extension}`),
  ];
}
