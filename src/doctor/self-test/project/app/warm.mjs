import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const visited = path.join(import.meta.dirname, '../../state/visited');

/** Whether somebody was here before; planted: the first visit finds the page cold, whoever makes it. */
export function isWarm() {
  if (existsSync(visited)) return true;
  writeFileSync(visited, '');
  return false;
}
