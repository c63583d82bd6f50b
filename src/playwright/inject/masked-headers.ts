const secret =
  /^(?:proxy-)?authorization$|cookie|^(?:x-)?api-?key$|token|secret|password|credential|signature|session|jwt/i;

/** Masks headers for the capture file: those that hold secrets keep their name and lose their value. */
export function maskedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secret.test(name) ? '[masked: header]' : value]),
  );
}
