import { parse } from 'dotenv';
import type { Cut } from '../core/guard-findings.js';
import type { Tree } from '../git/git-trees.js';
import type { FileEdit } from './request.js';

/** Files of variables: `.env`, `.env.local`, `web.env`, `.dev.vars`; samples of them hold values that are meant for everybody. */
const environmentFile = /(?:^|\/)(?:\.env(?:[.-][^/]+)?|\.envrc|\.dev\.vars(?:\.[^/]+)?|[\w.-]+\.env)$/;
const sample = /[.-](?:example|sample|template|dist|schema|defaults)$/i;

/**
 * Finds files of variables that got a value which no such file of the project has for that variable, samples included: nobody but a person knows
 * a key, a password or an address, and an invented one is green for the wrong reason.
 */
export async function inventedIn(edits: readonly FileEdit[], before: Tree): Promise<Cut[]> {
  const files = edits.filter(({ path, after }) => after && environmentFile.test(path) && !sample.test(path));
  if (files.length === 0) return [];
  const known = new Set<string>();
  const paths = (await before.paths()).filter((file) => environmentFile.test(file));
  for (const bytes of (await before.read(paths)).values())
    for (const pair of Object.entries(parse(Buffer.from(bytes)))) known.add(pair.join('='));
  return files.flatMap(({ path: file, after }) => {
    const variables = Object.entries(parse(after?.text ?? '')).filter((pair) => !known.has(pair.join('=')));
    const names = variables.map(([name]) => name).join(', ');
    return variables.length === 0 ? [] : [{ file, why: `only a person can say the value of ${names}` }];
  });
}
