import { isAtLeast } from '../is-at-least.js';
import { bad, good, type Check } from './check.js';

/** The oldest supported version of Node, as in package.json. */
const oldest = [20, 19] as const;

/** Checks whether self-heal supports this version of Node. */
export function checkNode(version: string): Check {
  return isAtLeast(version, oldest)
    ? good('node', version)
    : bad('node', `${version} is too old`, `Install Node ${oldest.join('.')} or later.`);
}
