import { z } from 'zod';
import { foldName } from '../paths.js';

/** A path inside the root, outside of repositories, packages and `.self-heal`. */
export const safePath = z
  .string()
  .max(4096)
  .refine(
    // A control code in a name would reach the reader's terminal.
    (file) => !/[\p{Cc}\\]/u.test(file) && file.split('/').every((part) => isAllowed(foldName(part))),
    'is not the path of a file in the project',
  );

/** Windows also has short names for these, such as `GIT~1`. */
const forbidden = ['.git', '.self-heal', 'node_modules'];
const shortForms = forbidden.map((name) => `${name.replace('.', '').slice(0, 6)}~`);

function isAllowed(part: string): boolean {
  // `.` and `..` are empty after normalization.
  if (part === '' || forbidden.includes(part)) return false;
  return !shortForms.some((start) => part.startsWith(start) && /^\d+$/.test(part.slice(start.length)));
}
