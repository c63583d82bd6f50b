import { clientRules } from './network/clients.js';
import { httpRules } from './network/http.js';
import { transportRules } from './network/transport.js';
import { waitingRules } from './network/waiting.js';

/** A request failed, was answered with an error, or was not answered in time (CS-5). */
export const networkErrorRules = [...transportRules, ...httpRules, ...waitingRules, ...clientRules];
