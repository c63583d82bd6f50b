/** The exit codes, documented and stable (CL-5). */
export const exitCodes = {
  green: 0,
  red: 1,
  usage: 2,
  personNeeded: 3,
  budget: 4,
  agentUnusable: 5,
  /** A bug in self-heal itself (EX_SOFTWARE of sysexits.h). */
  bug: 70,
  interrupted: 130,
  terminated: 143,
} as const;

/** Returns the exit code of a command that a signal interrupted; a closed terminal (SIGHUP) counts as SIGTERM. */
export function findExitCode(by: string): number {
  return by === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
}
