import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const visited = path.join(import.meta.dirname, '../../state/visited');

/** Whether the page was visited before. Planted: the first visit, whoever makes it, finds the page cold. */
export function isWarm() {
  if (existsSync(visited)) return true;
  writeFileSync(visited, '');
  return false;
}
