import { withPackageBins } from '../process/find-program.js';
import { type ProjectCommand, runCommand } from '../process/supervise.js';

/**
 * Runs the project's `verify.prepare` in a shell, exactly as written (HL-9). Returns null if it succeeded, else the end of its output.
 */
export async function runPrepare(
  command: string,
  options: Omit<ProjectCommand, 'file' | 'args'>,
): Promise<string | null> {
  const shell = process.platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c'] : ['/bin/sh', '-c'];
  const [file = '', ...flags] = shell;
  const failed = await runCommand({
    ...options,
    env: withPackageBins(options),
    file,
    args: [...flags, command],
  });
  return failed && `${failed.output}\nverify.prepare ended with ${failed.how}`;
}
