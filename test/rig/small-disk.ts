import { spawnSync } from 'node:child_process';
import { execa } from 'execa';

/** Arguments of `unshare` for a separate mount namespace, in which a test may mount a small file system. */
const unshare = ['--user', '--map-root-user', '--mount'];

/** True if this kernel allows such a namespace. */
export const canMount =
  spawnSync('unshare', [...unshare, 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' }).status ===
  0;

/** Runs a shell script whose mounts are invisible to other processes. */
export function withMounts(script: string, cwd: string, env: Record<string, string>) {
  const options = { cwd, env, extendEnv: false, reject: false } as const;
  return execa('unshare', [...unshare, 'bash', '-c', script], options);
}
