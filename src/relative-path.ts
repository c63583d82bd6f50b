import path from 'node:path';

/** The path from the folder `from` to `to` as reports, prompts and git write it: with slashes, on Windows too. */
export const relativePath = (from: string, to: string): string =>
  path.relative(from, to).replaceAll(path.sep, '/');
