/** Processes requests before routing. */

import { IncomingMessage } from 'node:http'

/**
 * Treats a request as an upgrade only if it requests WebSocket or is a CONNECT request, whose connection Node closes. A
 * server may ignore an upgrade to another protocol (RFC 9110, 7.8), so such a request is handled normally. Node reads the
 * `upgrade` property, which this class overrides.
 */
export class Incoming extends IncomingMessage {
  private hasUpgradeHeader = false
  /** True if the body may arrive for hours. */
  isStream = false

  get upgrade(): boolean {
    return this.hasUpgradeHeader && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket')
  }

  set upgrade(hasUpgradeHeader: boolean) {
    this.hasUpgradeHeader = hasUpgradeHeader
  }

  /** True for an `Upgrade` header or a CONNECT. Node reads no further request from such a connection. */
  get isUpgradeRequest(): boolean {
    return this.hasUpgradeHeader
  }
}

/**
 * Returns the path and query for routing. A target in absolute form is replaced by its path, and its authority becomes
 * the Host header (RFC 9112, 3.2.2).
 */
export function readTarget(request: IncomingMessage): string {
  const { url = '', headers, socket } = request
  const target = url.includes('%') ? replaceUnreadable(url) : url
  if (target.startsWith('/')) return target
  const [, scheme, host, rest = ''] = /^(https?):\/\/([^/?#@]+)([^#]*)$/i.exec(target) ?? []
  if (host === undefined || scheme?.toLowerCase() !== ('encrypted' in socket ? 'https' : 'http')) return target
  headers.host = host
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Replaces U+0000 and, in the path, what is not UTF-8 with U+FFFD. Databases reject U+0000, and no stored text contains
 * either character. Fastify would respond to a path that is not UTF-8 without authorizing and counting the request.
 */
function replaceUnreadable(url: string): string {
  const target = url.replaceAll('%00', replacement)
  if (hasReadablePath(target)) return target
  const path = pathOf(target)
  return path.replace(/%[0-9a-f]{0,2}/gi, replacement) + target.slice(path.length)
}

/** True if the percent-encoding of the path is UTF-8. */
export function hasReadablePath(target: string): boolean {
  if (!target.includes('%')) return true
  try {
    decodeURIComponent(pathOf(target))
    return true
  } catch {
    return false
  }
}

function pathOf(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? ''
}

/** U+FFFD in percent-encoding. */
const replacement = '%EF%BF%BD'
