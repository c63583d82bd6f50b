import { withoutRepository } from '../git/git.js';

/** What every program needs to run, to find its files, and to reach its provider, on any system. */
const basics = [
  'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR TMPDIR TMP TEMP XDG_* CI',
  'SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY',
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR NVM_* VOLTA_* FNM_* ASDF_* PLAYWRIGHT_BROWSERS_PATH IS_SANDBOX',
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)',
  'USERPROFILE USERNAME HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS',
].flatMap((line) => line.split(' '));

/**
 * Returns the environment variables that a program is given. This is an allow-list, because an agent's tools inherit all of them, and a model
 * has no need to see the project's keys and passwords. A name that ends in `*` matches all names with that beginning. No program is told the
 * repository of a git hook that runs self-heal: its git commands would work on the user's repository instead of its copy (HN-1).
 */
export function passedEnv(
  env: NodeJS.ProcessEnv,
  passes: readonly string[] | 'everything',
): NodeJS.ProcessEnv {
  const ours = withoutRepository(env);
  if (passes === 'everything') return ours;
  const names = [...basics, ...passes].map((name) => name.toUpperCase());
  const whole = new Set(names.filter((name) => !name.endsWith('*')));
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const isPassed = (name: string) =>
    whole.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
  return Object.fromEntries(Object.entries(ours).filter(([name]) => isPassed(name.toUpperCase())));
}
