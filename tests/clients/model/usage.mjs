// What an answer reports of itself. Tokens are characters by four: the shape is real, the amount is not.

import crypto from 'node:crypto';

export function sizeOf(body) {
  return Math.ceil(JSON.stringify(body).length / 4);
}

export function identifier(prefix) {
  return prefix + crypto.randomBytes(12).toString('hex');
}
