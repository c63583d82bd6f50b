import type { Scalar } from 'yaml';
import type { Diagnostic } from './diagnostic.js';

/** `${NAME}`, the escaped `$${`, and anything else that begins like it. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/**
 * Replaces each `${NAME}` in a text value by the variable of the environment, and `$${` by `${`. A variable that is not
 * set, and any other form of `${`, is a mistake. What is put in is not looked at again.
 */
export function interpolate(
  scalar: Scalar,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Diagnostic[] {
  if (typeof scalar.value !== 'string' || !scalar.value.includes('${')) return [];
  const [start = 0, end = start] = scalar.range ?? [];
  const found: Diagnostic[] = [];
  let from = start;
  const complain = (written: string, message: string) => {
    const index = text.indexOf(written, from);
    // In a double-quoted text the characters may be written as escapes, and then the whole is marked.
    const isSeen = index !== -1 && index < end;
    if (isSeen) from = index + written.length;
    found.push({ start: isSeen ? index : start, end: isSeen ? from : end, message });
  };
  scalar.value = scalar.value.replace(VARIABLE, (written: string, name?: string) => {
    if (written === '$${') return '${';
    if (name === undefined) complain(written, 'only ${NAME} is replaced; write $${ for a literal ${');
    else if (env[name] === undefined) complain(written, `the environment variable ${name} is not set`);
    return (name === undefined ? undefined : env[name]) ?? written;
  });
  return found;
}
