// How a model fails, whatever it is asked, and goes on to fail: what a client makes of it is for the client to show.

const PAGE = { type: 'text/html', text: '<html><body>The model is somewhere else.</body></html>' };

/** What each failure makes of the answer that would have been given. */
const FAILURES = {
  400: refused(400),
  401: refused(401),
  // Soon, so that a client that does as it is told tries again at once.
  429: refused(429, { 'retry-after': '1' }),
  500: refused(500),
  // The connection ends without an answer.
  closed: () => ({ isCut: true, text: '' }),
  // It ends in the middle of one.
  half: (reply) => ({ ...reply, isCut: true, text: reply.text.slice(0, reply.text.length / 2) }),
  // An answer that is well as HTTP, and none of a model.
  garbage: () => PAGE,
};

export const FAILURE_NAMES = Object.keys(FAILURES);

function refused(status, headers = {}) {
  return (_, protocol) => ({ status, headers, type: 'application/json', text: JSON.stringify(protocol.failure(status)) });
}

/** A reply, as it goes out, in its broken form. */
export function broken(how, reply, protocol) {
  return FAILURES[how](reply, protocol);
}
