import path from 'node:path';

const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

/** Whether a path is a file that the guard can parse. */
export function isCode(file: string): boolean {
  return extensions.includes(path.posix.extname(file)) && !file.endsWith('.d.ts');
}

/** Resolves imports among these paths, without a module's configuration: null for packages and what is not there. */
export function importResolver(paths: ReadonlySet<string>): (from: string, source: string) => string | null {
  const existing = (place: string) => candidates(place).find((one) => paths.has(one)) ?? null;
  return (from, source) => {
    if (source.startsWith('.')) return existing(path.posix.join(path.posix.dirname(from), source));
    return byAlias(source, paths);
  };
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

/** `@pages/cart` and `~/pages/cart` are a file that ends so, where there is just one. */
function byAlias(source: string, paths: ReadonlySet<string>): string | null {
  if (!/^[@~#]/.test(source) || source.startsWith('@playwright/')) return null;
  const tail = source.replace(/^[@~#]\/?/, '');
  const ends = candidates(tail);
  const found = [...paths].filter((one) => ends.some((end) => one === end || one.endsWith(`/${end}`)));
  return found.length === 1 ? (found[0] ?? null) : null;
}
