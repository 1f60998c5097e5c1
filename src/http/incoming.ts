/** What is made of a request before anybody looks for its route. */

import { IncomingMessage } from 'node:http'

/**
 * A request to upgrade is one when it asks for WebSocket; any other protocol may be passed over (RFC 9110, 7.8), and the
 * request is answered like every other. Node decides by the property that this class answers for.
 */
export class Incoming extends IncomingMessage {
  private hasAsked = false

  get upgrade(): boolean {
    return this.hasAsked && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket')
  }

  set upgrade(hasAsked: boolean) {
    this.hasAsked = hasAsked
  }

  /** The request has an `Upgrade` header, or is a CONNECT. Node reads no further request from such a connection. */
  get isUpgradeAsked(): boolean {
    return this.hasAsked
  }
}

/**
 * Path and query, as routes know them. A target with our own scheme and an authority, as proxies are sent it, stands for
 * its path, and its authority for the Host (RFC 9112, 3.2.2). U+0000 is in nothing that is stored, and databases cannot
 * be asked for it; U+FFFD stands for it and names nothing either.
 */
export function readTarget(request: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>): string {
  const { url = '', headers, socket } = request
  const target = url.includes('%00') ? url.replaceAll('%00', '%EF%BF%BD') : url
  if (target.startsWith('/')) return target
  const [, scheme, host, rest = ''] = /^(https?):\/\/([^/?#@]+)([^#]*)$/i.exec(target) ?? []
  if (host === undefined || scheme?.toLowerCase() !== ('encrypted' in socket ? 'https' : 'http')) return target
  headers.host = host
  return rest.startsWith('/') ? rest : `/${rest}`
}
