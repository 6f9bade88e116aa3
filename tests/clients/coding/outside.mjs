// A proxy that lets nobody out and remembers who asked: the clients' way to every other machine.

import http from 'node:http';

export async function startOutside() {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(request.url);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    asked,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
