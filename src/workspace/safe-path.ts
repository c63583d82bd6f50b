import { z } from 'zod';

/** A path inside the root, outside of repositories, packages and `.self-heal`. */
export const safePath = z
  .string()
  .max(4096)
  .refine(
    // A control code in a name would reach the terminal of whoever reads it.
    (file) => !/[\p{Cc}\\]/u.test(file) && file.split('/').every((part) => mayBeNamed(onAnyDisk(part))),
    'is not a path of a file in the project',
  );

/** Windows also has short names for these, such as `GIT~1`. */
const forbidden = ['.git', '.self-heal', 'node_modules'];
const shortForms = forbidden.map((name) => `${name.replace('.', '').slice(0, 6)}~`);

function mayBeNamed(part: string): boolean {
  // `.` and `..` have become empty as well.
  if (part === '' || forbidden.includes(part)) return false;
  return !shortForms.some((start) => part.startsWith(start) && /^\d+$/.test(part.slice(start.length)));
}

/**
 * Returns a name as file systems other than this one may read it, which is what git's core.protectHFS and core.protectNTFS guard against: HFS+
 * ignores some characters, others ignore case or how a letter is composed, and NTFS drops dots and spaces at the end, and what follows a colon.
 */
function onAnyDisk(part: string): string {
  return part
    .replaceAll(/[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[ .]+$/, '');
}
