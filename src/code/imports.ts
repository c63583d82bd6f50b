import path from 'node:path';

const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

/** True for a file that the guard can parse. */
export function isCode(file: string): boolean {
  return extensions.includes(path.posix.extname(file)) && !file.endsWith('.d.ts');
}

/** A package in the project's own workspace, described by its `package.json`. */
export interface LocalPackage {
  readonly name: string;
  /** Relative to the workspace root; `.` for the root. */
  readonly folder: string;
  /** The entry file, relative to the workspace root; empty for the default `index`. */
  readonly main: string;
}

/**
 * Returns a function that resolves imports among these paths, without module configuration. It returns null for third-party packages and
 * missing files.
 */
export function createImportResolver(
  paths: ReadonlySet<string>,
  packages: readonly LocalPackage[] = [],
): (from: string, source: string) => string | null {
  const byStem = new Map<string, string[]>();
  for (const file of paths) {
    const stem = dropExtension(file);
    const files = byStem.get(stem);
    if (files) files.push(file);
    else byStem.set(stem, [file]);
  }
  const aliases = new Map<string, string | null>();
  return (from, source) => {
    if (source.startsWith('.')) {
      const target = path.posix.join(path.posix.dirname(from), source);
      return listCandidates(target).find((file) => paths.has(file)) ?? null;
    }
    const localPackage = packages.find(({ name }) => source === name || source.startsWith(`${name}/`));
    if (localPackage) {
      const { folder, main } = localPackage;
      const subpath = source.slice(localPackage.name.length + 1);
      const targets = [folder, `${folder}/src`].map((base) => path.posix.join(base, subpath));
      const files = [subpath === '' ? main : '', ...targets.flatMap(listCandidates)];
      return files.find((file) => paths.has(file)) ?? null;
    }
    if (!/^(?:[@~#$]|src\/)/.test(source) || source.startsWith('@playwright/')) return null;
    const cached = aliases.get(source);
    if (cached !== undefined) return cached;
    // An alias such as `@pages/cart`, `~/pages/cart` or `src/pages/cart` stands for the file whose path ends that way, if there is only one.
    const suffixes = listCandidates(source.replace(/^[@~#$]\/?/, ''));
    const candidates = new Set(suffixes.flatMap((suffix) => byStem.get(dropExtension(suffix)) ?? []));
    const matches = [...candidates].filter((file) =>
      suffixes.some((suffix) => file === suffix || file.endsWith(`/${suffix}`)),
    );
    const match = matches.length === 1 ? (matches[0] ?? null) : null;
    aliases.set(source, match);
    return match;
  };
}

/** Returns the last two segments of a path, without the extension. Few files share them. */
function dropExtension(file: string): string {
  const parts = file.split('/').slice(-2);
  return parts.join('/').replace(/\.[cm]?[jt]sx?$/, '');
}

/** Lists the files that Playwright may resolve an import to: `./cart.js` may be `cart.ts`. */
function listCandidates(target: string): string[] {
  const swapped = target.replace(/\.([mc]?)js(x?)$/, '.$1ts$2');
  return [
    swapped,
    target,
    ...extensions.map((extension) => `${target}${extension}`),
    ...extensions.map((extension) => `${target}/index${extension}`),
  ];
}
