import { readFileSync } from 'node:fs';
import type { Location, TestError } from '../core/failure.js';
import type { Phase } from '../core/phase.js';
import type { ReportState } from './report-state.js';

const ofServers =
  /config\.webServer|is already used, make sure that nothing is running|^Error: Failed to launch: /;

/** Returns what Playwright was doing when it failed outside of its tests, or null if that is not known. */
export function phaseOf({ configured, begin }: ReportState, errors: readonly TestError[]): Phase | null {
  const [error] = errors;
  const config = configured?.configFile ?? null;
  if (!error || (begin?.total ?? 0) > 0) return null;
  if (!configured)
    return error.location ? { kind: 'config', at: error.location, servers: [], file: null } : null;
  const { webServers = [], globalSetup = [] } = configured;
  if (ofServers.test(error.message)) {
    const named = webServers.filter(({ url }) => url !== null && error.message.includes(url));
    const servers = named.length > 0 ? named : webServers;
    const [first] = servers;
    const at = lineOf(config, first?.command) ?? lineOf(config, 'webServer');
    return { kind: 'web-server', at, servers, file: null };
  }
  const [file] = globalSetup;
  const inFile = globalSetup.find((one) => (error.stack ?? '').includes(one) || error.location?.file === one);
  if (file === undefined || (inFile === undefined && !isBeforeTests(error))) return null;
  return { kind: 'global-setup', at: lineOf(config, 'globalSetup'), servers: [], file: inFile ?? file };
}

/** An error without a place in a spec comes of the set-up: specs that do not load name theirs. */
function isBeforeTests({ location, message }: TestError): boolean {
  return location === null && !/No tests found|Cannot find module|SyntaxError/.test(message);
}

/** Returns the first line of a file that contains a text. */
function lineOf(file: string | null, text: string | undefined): Location | null {
  if (file === null || !text) return null;
  try {
    const at = readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((line) => line.includes(text));
    return at === -1 ? null : { file, line: at + 1, column: 1 };
  } catch {
    return null;
  }
}
