// Compares the lines of each folder of src with the limit in CONTRIBUTING.md, so that a change that needs more has to raise it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const document = 'CONTRIBUTING.md';

/** Reads the rows of the table: `| `agents/` | 2,700 |`. */
export function readBudget(markdown) {
  const rows = markdown.matchAll(/^\| `(?<folder>[\w-]+\/)` +\| +(?<most>[\d,]+) \|$/gm);
  return new Map(Array.from(rows, ({ groups }) => [groups.folder, Number(groups.most.replaceAll(',', ''))]));
}

/** Compares the lines of each folder with the budget; returns a line for each that has more, or that only one of the two knows. */
export function findExcess(budget, lines) {
  return [
    ...[...lines].flatMap(([folder, has]) => {
      const most = budget.get(folder);
      if (most === undefined) return [`src/${folder} has no row in the table of ${document}`];
      return has > most ? [`src/${folder} has ${has} lines, and may have ${most} (${document})`] : [];
    }),
    ...[...budget.keys()]
      .filter((folder) => !lines.has(folder))
      .map((folder) => `${document} has a row for src/${folder}, which does not exist`),
  ];
}

function check() {
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  const src = path.join(root, 'src');
  const lines = new Map();
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    const [folder, ...below] = file.split(path.sep);
    if (below.length === 0 || !file.endsWith('.ts')) continue;
    const count = readFileSync(path.join(src, file), 'utf8').split('\n').length - 1;
    lines.set(`${folder}/`, (lines.get(`${folder}/`) ?? 0) + count);
  }
  const excess = findExcess(readBudget(readFileSync(path.join(root, document), 'utf8')), lines);
  process.stdout.write(excess.map((line) => `${line}\n`).join(''));
  process.exitCode = excess.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) check();
