import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ownFile } from '../own-files.js';

/** A file of the page. */
export interface PageFile {
  readonly text: string;
  readonly type: string;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page, read once and by name: what a request says is looked up and never made into a path. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = ownFile('ui/page');
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = types[path.extname(name)];
    if (type) files.set(name, { text: await readFile(path.join(folder, name), 'utf8'), type });
  }
  // The pages share one look, and what a run came to is drawn by one renderer.
  const report = await readFile(ownFile('outputs/html/report.css'), 'utf8');
  return files.set('report.css', { text: report, type: types['.css'] ?? '' });
}
