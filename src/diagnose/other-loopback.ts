import { certain, type Diagnosis } from '../model/diagnosis.js';
import type { Evidence } from '../model/evidence.js';
import { stripAnsi } from '../visible-text.js';

/** A loopback address that refuses connections, as Node and browsers say it. */
const refused = /REFUSED(?: at \w+:\/\/)? ?\[?(127\.0\.0\.1|::1)\]?:(\d{2,5})/g;

/**
 * Returns a diagnosis that says so if a connection was refused at one loopback address while a web server of the config listens at the other one:
 * `localhost` is `::1` for some programs and `127.0.0.1` for others. `ports` are those of the servers, with the addresses at which each listens.
 */
export function withOtherLoopback(
  diagnosis: Diagnosis,
  { errors, network, serverOutput }: Pick<Evidence, 'errors' | 'network' | 'serverOutput'>,
  ports: ReadonlyMap<number, readonly string[]>,
): Diagnosis {
  const text = [
    ...errors.flatMap(({ message, causes }) => [message, ...causes]),
    ...network.map(({ url, status, failure }) => (status === null ? `${failure} at ${url}` : '')),
    serverOutput,
  ].join('\n');
  for (const [, host = '', port = ''] of stripAnsi(text).matchAll(refused)) {
    const [other] = ports.get(Number(port))?.includes(host) ? [] : (ports.get(Number(port)) ?? []);
    if (other === undefined) continue;
    const evidence = `${at(host, port)} refuses connections, while a web server of the config listens at ${at(other, port)}`;
    const { advice: _, ...known } = diagnosis;
    const category = 'network-error';
    const reason = {
      rule: 'network/other-loopback',
      category,
      source: 'network',
      evidence,
      confidence: certain,
    } as const;
    return {
      ...known,
      category,
      alternatives: known.alternatives.filter((alternative) => alternative !== category),
      confidence: certain,
      why: [reason, ...known.why],
      retry: 'code_error',
      warning: null,
    };
  }
  return diagnosis;
}

function at(host: string, port: string): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
