import { confirm } from '@clack/prompts';

/** True if self-heal can ask a person: input and output are terminals that can be redrawn, and this is not CI. */
export function canAskPerson(
  env: NodeJS.ProcessEnv,
  { stdin, stderr }: { readonly stdin: { isTTY?: boolean }; readonly stderr: { isTTY?: boolean } },
): boolean {
  const isCi = (env['CI'] ?? '') !== '' && env['CI'] !== 'false';
  return stdin.isTTY === true && stderr.isTTY === true && !isCi && env['TERM'] !== 'dumb';
}

/** Asks a yes-or-no question; leaving without an answer means no. */
export async function askToConfirm(message: string): Promise<boolean> {
  return (await confirm({ message, initialValue: false, output: process.stderr })) === true;
}
