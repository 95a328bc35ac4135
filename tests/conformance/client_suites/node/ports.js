// The tests connect to 389 and 636, which only root may listen on.
import net from 'node:net';

const ports = { 389: process.env.LDAP_PORT, 636: process.env.LDAPS_PORT };
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function (...given) {
  // net.connect gives a list of the options and the callback, tls.connect the options.
  const options = Array.isArray(given[0]) ? given[0][0] : given[0];
  if (options.host === 'localhost' && options.port in ports) {
    options.port = ports[options.port];
  }
  return connect.apply(this, given);
};
