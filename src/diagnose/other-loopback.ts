import { certain, type Diagnosis } from '../model/diagnosis.js';
import type { Evidence } from '../model/evidence.js';
import { formatAddress } from '../urls.js';
import { stripAnsi } from '../visible-text.js';

/** A loopback address that refuses connections, in messages from Node and browsers. */
const refusedAddress = /REFUSED(?: at \w+:\/\/)? ?\[?(127\.0\.0\.1|::1)\]?:(\d{2,5})/g;

/**
 * Adds a reason to the diagnosis if one loopback address refused a connection while a web server in the config listens at the other one: `localhost`
 * is `::1` for some programs and `127.0.0.1` for others. `ports` maps the servers' ports to their addresses.
 */
export function explainOtherLoopback(
  diagnosis: Diagnosis,
  { errors, network, serverOutput }: Pick<Evidence, 'errors' | 'network' | 'serverOutput'>,
  ports: ReadonlyMap<number, readonly string[]>,
): Diagnosis {
  const text = [
    ...errors.flatMap(({ message, causes }) => [message, ...causes]),
    ...network.map(({ url, status, failure }) => (status === null ? `${failure} at ${url}` : '')),
    serverOutput,
  ].join('\n');
  for (const [, host = '', port = ''] of stripAnsi(text).matchAll(refusedAddress)) {
    const [other] = ports.get(Number(port))?.includes(host) ? [] : (ports.get(Number(port)) ?? []);
    if (other === undefined) continue;
    const evidence = `${formatAddress(host, port)} refuses connections, while a web server in the config listens at ${formatAddress(other, port)}`;
    const { advice: _, ...otherFacts } = diagnosis;
    const category = 'network-error';
    const reason = {
      rule: 'network/other-loopback',
      category,
      source: 'network',
      evidence,
      confidence: certain,
    } as const;
    return {
      ...otherFacts,
      category,
      alternatives: otherFacts.alternatives.filter((alternative) => alternative !== category),
      confidence: certain,
      why: [reason, ...otherFacts.why],
      retry: 'code_error',
      warning: null,
    };
  }
  return diagnosis;
}
