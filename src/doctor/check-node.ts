import { bad, good, type Check } from './check.js';

/** The oldest supported version of Node, as in package.json. */
const oldest = [20, 19] as const;

/** Checks whether self-heal supports this version of Node. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  return isEnough
    ? good('node', version)
    : bad('node', `${version} is too old`, `Install Node ${oldest.join('.')} or later.`);
}
