// Tries what answers pods everywhere unless a policy forbids it: the API server, and the kubelet of the node. A refusal is
// an answer, too. The result is the termination message of the container.
const { writeFileSync } = require('node:fs');
const { connect } = require('node:net');

const { KUBERNETES_SERVICE_HOST: server, KUBERNETES_SERVICE_PORT: port, NODE_ADDRESS: node } = process.env;
const kubeletPort = 10_250;

Promise.all([connects(server, port), connects(node, kubeletPort)]).then((answers) =>
  writeFileSync('/dev/termination-log', answers.includes(true) ? 'connected' : 'silence'),
);

function connects(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1500 });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', ({ code }) => end(code === 'ECONNREFUSED'));
  });
}
